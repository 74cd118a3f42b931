import json
from pathlib import Path

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Uctrace(MesonPackage):
    """Traces MPI and UCX jobs: which MPI call asked for a message, and which UCP protocol and UCT
    transport carried it, over which device, when, and at what cost."""

    # No public address is known here: Spack clones the checkout that this file lies in.
    git = Path(__file__).resolve().parents[6].as_uri()

    test_requires_compiler = True

    version("main", branch="main")

    # The build that is tested.
    variant(
        "buildtype",
        default="debugoptimized",
        values=("plain", "debug", "debugoptimized", "release", "minsize"),
        description="Meson build type",
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1:", type="build")
    depends_on("python@3.9:", type="build")
    # The page of `uctrace view`: `npm ci` fetches what bundles it from npm's registry.
    depends_on("node-js@18:", type="build")
    depends_on("npm", type="build")
    # Headers only. Nothing is linked with this UCX: a job brings its own.
    depends_on("ucx@1.13:1.23", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")

    depends_on("elfutils@0.188:")
    depends_on("fmt@9:")
    depends_on("hdf5@1.10:~mpi")
    depends_on("hwloc@2.1:")
    depends_on("libdeflate@1.14:")
    # Of a plug-in, for a merge by several processes.
    depends_on("mpi")
    depends_on("otf2@3:")
    depends_on("sqlite@3.40:")
    depends_on("zlib-api")

    requires("platform=linux")
    conflicts("%gcc@:11", msg="uctrace is C++20 for GCC 12 and later")

    def meson_args(self):
        return ["-Dtests=false", f"-Dmpicc={self.spec['mpi'].mpicc}"]

    @run_after("install")
    def clean_up(self):
        # Both work with the libraries of a job, which must come from where the job says.
        delete_rpath(self.prefix.lib.uctrace.join("libuctrace.so"))
        delete_rpath(self.prefix.libexec.uctrace.join("uctrace-ucx-test"))
        # What Spack's npm leaves.
        remove_linked_tree(self.prefix.join("npm-cache"))

    @run_after("install")
    def keep_example(self):
        cache_extra_test_sources(self, "examples/cg")

    def test_record(self):
        """record an MPI program, and ask for its report"""
        mpi = self.spec["mpi"]
        launcher = which("mpirun", "mpiexec", path=mpi.prefix.bin, required=True)
        uctrace = Executable(self.prefix.bin.uctrace)
        if self.spec.satisfies("^openmpi fabrics=ucx"):
            # By itself it takes UCX only on networks it knows.
            uctrace.add_default_env("OMPI_MCA_pml", "ucx")
            uctrace.add_default_env("OMPI_MCA_pml_ucx_tls", "any")
            uctrace.add_default_env("OMPI_MCA_pml_ucx_devices", "any")

        with working_dir(join_path(self.test_suite.current_test_cache_dir, "examples", "cg")):
            Executable(mpi.mpicxx)(
                "-std=c++17", "-O2", "-g", "cg.cpp", "halo.cpp", "matrix.cpp", "-o", "cg"
            )
            uctrace("record", "-o", "data", "--", launcher.path, "-np", "2", "./cg")
            # Its exit status is 1 if an identity is violated.
            info = json.loads(uctrace("info", "--format", "json", "data", output=str))
            report = json.loads(uctrace("report", "--format", "json", "data", output=str))

            with test_part(self, "test_record_complete", purpose="nothing is missing"):
                assert info["complete"], info["notes"]

            with test_part(self, "test_record_ucx", purpose="transports carried something"):
                if info["layers"]["uct"]["state"] == "unused":
                    raise SkipTest(f"{mpi.name} did not use UCX")
                assert report["contenders"], "no transport carried anything"
