// Names of memory, in the words of the command line.

import { kMemoryKinds, type Devices, type Gpu, type Place } from './data';

/** From a packed table: the kind by its number. */
export function placeOf(kind: number, gpu: number): Place {
  return { kind: kMemoryKinds[kind]!, gpu };
}

/** Without the PCI domain, which is nearly always 0. */
export function shortBus({ bus }: Gpu): string {
  return bus.replace(/^0000:/, '');
}

/** Memory of a GPU, even if the host can also access it. */
export function isDeviceMemory({ kind }: Place): boolean {
  return kind === 'gpu' || kind === 'managed';
}

/** "host memory", "GPU 0000:10:00.0", "managed memory of GPU 0000:10:00.0", "unknown memory". */
export function placeText({ gpus }: Devices, { kind, gpu }: Place): string {
  const name = gpus[gpu] && `GPU ${gpus[gpu].bus}`;
  if (kind === 'gpu') return name ?? 'memory of a GPU';
  if (kind === 'managed') return name ? `managed memory of ${name}` : 'managed memory';
  return kind === 'host' ? 'host memory' : 'unknown memory';
}

/** The same, and which GPU that is: "GPU 0000:10:00.0 of node1 (GPU-..., H100)". */
export function fullPlaceText(devices: Devices, place: Place): string {
  const gpu = devices.gpus[place.gpu];
  const text = placeText(devices, place);
  if (!gpu) return text;
  return `${text} of ${gpu.host} (${gpu.uuid}${gpu.name ? `, ${gpu.name}` : ''})`;
}
