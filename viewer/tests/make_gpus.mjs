// GPUs of an invented run: each host has some, each rank uses one of them, and large messages lie
// in its memory. Their transports take the ways that UCX takes on real machines: from GPU to GPU,
// through memory of the hosts, and by network cards that reach GPUs.

const kHost = { kind: 'host', gpu: -1 };
const kCards = ['mlx5_0:1', 'mlx5_1:1'];

const staging = (op, issued_by, hop, from, to) => ({
  hop,
  transport: 'cuda_copy',
  device: 'cuda',
  remote_device: 'cuda',
  network: false,
  op,
  role: 'staging',
  issued_by,
  from,
  to,
});

/** A transport over a network has a card for each GPU of a host; the others share the first one. */
export function makeGpuNode(hosts, perHost) {
  const gpus = hosts.flatMap((host, h) =>
    Array.from({ length: perHost }, (_, i) => {
      const uuid = `GPU-${String(100 * h + i).padStart(8, '0')}-c0de`;
      const bus = `0000:${(i + 1).toString(16)}0:00.0`;
      return { host, uuid, bus, name: 'Invented GPU', label: `${host}/${uuid}`, numa: i % 2 };
    }),
  );
  // Messages in host memory use a card that is on no PCI bus.
  const nics = hosts.flatMap((host) => [
    { host, device: 'eth0', bus: null, numa: null },
    ...kCards.map((device, i) => ({ host, device, bus: `0000:${i + 1}1:00.0`, numa: i % 2 })),
  ]);
  const gpu_nic = [];
  gpus.forEach(({ host, numa }, gpu) =>
    nics.forEach((card, nic) => {
      if (card.host !== host) return;
      const near = card.numa === numa;
      const far = { distance: near ? 'PIX' : 'SYS', numa_distance: near ? 10 : 21 };
      const unknown = { distance: 'unknown', numa_distance: null };
      gpu_nic.push({ gpu, nic, ...(card.bus === null ? unknown : far) });
    }),
  );
  return { gpus, nics, gpu_nic };
}

export const kNoDevices = { gpus: [], nics: [], gpu_nic: [] };

/** The way of a message from GPU to GPU: `local`, or to another host. */
export function gpuRoute({ local, size, src, dst, perHost, ranksPerHost }) {
  const gpuOf = (rank) => ({
    kind: rank % 7 === 6 ? 'managed' : 'gpu',
    gpu: Math.floor(rank / ranksPerHost) * perHost + ((rank % ranksPerHost) % perHost),
  });
  const [from, to] = [gpuOf(src), gpuOf(dst)];
  const card = (rank) => kCards[(rank % perHost) % kCards.length];
  const memory = { transport: 'sysv', device: 'memory', remote_device: 'memory', network: false };
  const network = {
    transport: 'rc_mlx5',
    device: card(src),
    remote_device: card(dst),
    network: true,
  };
  const control = (over, issued_by, hop = 0) => {
    const there = over.network && issued_by === 'dst';
    const [device, remote_device] = there ? [card(dst), card(src)] : [over.device, over.remote_device];
    return {
      ...over, device, remote_device, hop, op: 'am_bcopy', role: 'control', issued_by, from: kHost, to: kHost,
    };
  };
  const ends = { src_memory: from, dst_memory: to };
  if (size <= 65536 && local) {
    const path = [
      staging('get_short', 'src', 0, from, kHost),
      { ...memory, hop: 1, op: 'am_bcopy', role: 'data', issued_by: 'src', from: kHost, to: kHost },
      staging('put_short', 'dst', 2, kHost, to),
    ];
    return { protocol: 'eager/bcopy', fragment: 8256, path, ...ends };
  }
  if (size <= 65536) {
    const path = [
      { ...network, hop: 0, op: 'am_zcopy', role: 'data', issued_by: 'src', from, to: kHost },
      staging('put_short', 'dst', 1, kHost, to),
    ];
    return { protocol: 'eager/zcopy', fragment: 8192, path, ...ends };
  }
  const over = local ? memory : network;
  const [device, remote_device] = [card(dst), card(src)];
  const data = local
    ? { transport: 'cuda_ipc', device: 'cuda', remote_device: 'cuda', network: false }
    : { ...network, device, remote_device };
  const path = [
    control(over, 'src'),
    { ...data, hop: 0, op: 'get_zcopy', role: 'data', issued_by: 'dst', from, to },
    control(over, 'dst'),
  ];
  return { protocol: 'rndv/get/zcopy', path, ...ends };
}
