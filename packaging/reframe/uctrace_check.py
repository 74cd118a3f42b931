# ReFrame's acceptance test of a site: the example solver runs alone and recorded. The books of the
# recording must balance, the transports must be those of the site, and the cost is measured.
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ


def load(path):
    with open(path) as file:
        return json.load(file)


@rfm.simple_test
class uctrace_check(rfm.RegressionTest):
    # The command, where no module or PATH has it.
    uctrace = variable(str, value='uctrace')
    # Those that must have carried something, by UCX's names: rc_mlx5, sysv, ...
    expected_transports = variable(typ.List[str], value=[])
    # Points of the solver's grid along an edge.
    size = variable(int, value=96)

    descr = 'record an MPI job with uctrace'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    sourcesdir = os.path.join('..', '..', 'examples', 'cg')
    build_system = 'Make'
    executable = './cg'
    num_tasks = 4
    time_limit = '10m'

    @run_before('compile')
    def set_compiler(self):
        self.build_system.options = [f'MPICXX="{self.current_environ.cxx}"']

    @run_before('run')
    def set_commands(self):
        self.executable_opts = [f'--poisson {self.size}', '--iterations 100']
        launcher = self.job.launcher
        self.job.num_tasks = self.num_tasks  # ReFrame sets it later only
        alone = [launcher.run_command(self.job), self.executable, *self.executable_opts]
        self.prerun_cmds = [' '.join(alone) + ' > alone.txt']
        launcher.modifier = f'{self.uctrace} record -o data --'
        self.postrun_cmds = [f'{self.uctrace} info --format json data > info.json',
                             f'{self.uctrace} report --format json data > report.json']

    @sanity_function
    def check_recording(self):
        sn.evaluate(sn.assert_found(r'^checksum', self.stdout, 'the job did not end'))
        info = load('info.json')
        open_books = [row['name'] for row in info['identities'] if row['result'] != 'holds']
        used = sorted({row['transport'] for row in load('report.json')['contenders']})
        missing = [name for name in self.expected_transports if name not in used]
        return sn.all([
            sn.assert_true(info['complete'], f'not all was recorded: {info["notes"]}'),
            sn.assert_false(open_books, f'these identities do not hold: {open_books}'),
            sn.assert_true(used, 'the job did not use UCX'),
            sn.assert_false(missing, f'{missing} carried nothing; the job used {used}')
        ])

    @performance_function('B')
    def payload(self):
        return sum(row['bytes'] for row in load('report.json')['contenders'])

    @performance_function('B')
    def log(self):
        return load('info.json')['log']['bytes']

    # Times longer than alone.
    @performance_function('1')
    def overhead(self):
        def seconds(file):
            return sn.extractsingle(r'^time +(\S+) s', file, 1, float)
        return seconds(self.stdout) / seconds('alone.txt')
