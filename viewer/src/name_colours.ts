// The colour of each name: the same in every page, whatever else the run has. A colour is a slot of categoryColour.
// tests/name_colours.test.ts compares this with its definition.

import { kCategories } from './palette';

/** Kinds of names that have colours. */
export type Named = 'transport' | 'operation' | 'function';

/** The place of a name is its slot. The first slots differ most, so names that often occur together come first. */
export const kKnownNames: Readonly<Record<Named, readonly string[]>> = {
  transport: [
    // The second slot is near the colour of UCT's bins, so it goes to a transport that readers seldom look for.
    ...['sysv', 'self', 'cma', 'rc_mlx5', 'cuda_ipc', 'cuda_copy', 'posix', 'tcp'],
    ...['dc_mlx5', 'ud_mlx5', 'gdr_copy', 'xpmem', 'rc_verbs', 'ud_verbs', 'knem', 'gga_mlx5'],
    ...['srd', 'rocm_ipc', 'rocm_copy', 'rocm_gdr', 'ze_ipc', 'ze_copy', 'ze_gdr_copy', 'gaudi_gdr'],
    ...['ugni_rdma', 'ugni_smsg', 'ugni_udt', 'mm', 'cm'],
  ],
  operation: [
    ...['am_short', 'am_bcopy', 'am_zcopy', 'get_zcopy', 'put_zcopy', 'put_short', 'get_short', 'ep_flush'],
    ...['put_bcopy', 'get_bcopy', 'am_short_iov', 'iface_flush', 'ep_fence', 'ep_check', 'cswap32', 'cswap64'],
    ...['atomic32_post', 'atomic64_post', 'atomic32_fetch', 'atomic64_fetch'],
    ...['tag_eager_short', 'tag_eager_bcopy', 'tag_eager_zcopy', 'tag_rndv_zcopy', 'tag_rndv_request'],
    ...['tag_rndv_cancel', 'tag_recv_zcopy', 'tag_recv_cancel', 'put_sgl_zcopy', 'get_sgl_zcopy'],
  ],
  function: [
    ...['MPI_Allreduce', 'MPI_Waitall', 'MPI_Recv', 'MPI_Send', 'MPI_Barrier', 'MPI_Bcast', 'MPI_Wait', 'MPI_Alltoall'],
    ...['MPI_Isend', 'MPI_Irecv', 'MPI_Sendrecv', 'MPI_Reduce', 'MPI_Allgather', 'MPI_Alltoallv', 'MPI_Gather'],
    ...['MPI_Scatter', 'MPI_Allgatherv', 'MPI_Gatherv', 'MPI_Scatterv', 'MPI_Test', 'MPI_Testall', 'MPI_Waitany'],
    ...['MPI_Waitsome', 'MPI_Iprobe', 'MPI_Probe', 'MPI_Win_fence', 'MPI_Win_flush', 'MPI_Put', 'MPI_Get'],
    ...['MPI_Ssend', 'MPI_Reduce_scatter', 'MPI_Start'],
  ],
};

/** FNV-1a of the name's characters. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** The slot of a name if its run has no other. */
export function homeSlot(kind: Named, name: string): number {
  const known = kKnownNames[kind].indexOf(name);
  return known >= 0 ? known : hashOf(name) % kCategories;
}

/**
 * The slot of each name of a run. A known name always has its own. If other names hash to one slot, the first in
 * alphabetical order gets it, unless a known name does. The others take the next free slots, in alphabetical order.
 * With more names than slots, the rest keep the slots of their hashes.
 */
export function slotsOf(kind: Named, names: Iterable<string>): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  const take = (name: string, slot: number) => {
    slots.set(name, slot);
    taken.add(slot);
  };
  const distinct = [...new Set(names)].sort();
  const others = distinct.filter((name) => !kKnownNames[kind].includes(name));
  for (const name of distinct) if (!others.includes(name)) take(name, homeSlot(kind, name));
  const moved = others.filter((name) => {
    const home = homeSlot(kind, name);
    if (taken.has(home)) return true;
    take(name, home);
    return false;
  });
  for (const name of moved) {
    let slot = homeSlot(kind, name);
    if (taken.size < kCategories) while (taken.has(slot)) slot = (slot + 1) % kCategories;
    take(name, slot);
  }
  return slots;
}
