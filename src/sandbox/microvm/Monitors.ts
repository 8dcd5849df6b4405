/** The programs that run virtual machines: their command lines. Pure. */
import type { SandboxLimits } from "../Sandbox.ts"

export type MonitorKind = "firecracker" | "qemu"

export interface Machine {
  readonly mark: string
  /** Program of the monitor. */
  readonly program: string
  readonly kernel: string
  readonly initramfs: string
  readonly image: string
  readonly limits: SandboxLimits
  /** Whether QEMU emulates the processor. */
  readonly emulates: boolean
  /** Whether the monitor is started by root, whose rights it gives up. */
  readonly isRoot: boolean
  /** Path at which the settings of Firecracker are written. */
  readonly settingsFile: string
}

interface MonitorRow {
  readonly args: (machine: Machine) => ReadonlyArray<string>
  /** Settings as JSON, for a monitor that reads a file. */
  readonly settings?: (machine: Machine) => object
}

const mib = 1_048_576
/** Memory of the kernel, of `Guest.ts` and of the repository. */
const guestMib = 320

export const memoryMib = ({ memoryBytes }: SandboxLimits): number => Math.ceil(memoryBytes / mib) + guestMib
export const processors = ({ cpus }: SandboxLimits): number => Math.min(Math.ceil(cpus), 32)

/** Settings of the start script, which get there as variables; the machine stops instead of starting again. */
const kernelArgs = (limits: SandboxLimits, link: string, more: ReadonlyArray<string> = []): string =>
  [
    "quiet panic=-1 reboot=t random.trust_cpu=on",
    ...more,
    `aicr_link=${link}`,
    `aicr_files=${limits.fileBytes}`,
    `aicr_memory=${limits.memoryBytes}`,
    `aicr_processes=${limits.processes}`,
    `aicr_cpu=${Math.round(limits.cpus * 100_000)}`
  ].join(" ")

/** The speed of an emulated processor, which it cannot measure without a clock of the hardware. */
const emulated = ["tsc_early_khz=1000000 lpj=2000000 no_timer_check"]

const qemuArgs = (machine: Machine): ReadonlyArray<string> => {
  const { emulates, image, initramfs, isRoot, kernel, limits, mark } = machine
  return [
    "-name",
    `aicr-${mark}`,
    "-M",
    `microvm,accel=${emulates ? "tcg" : "kvm"},rtc=on,isa-serial=off,usb=off`,
    ...(emulates ? ["-cpu", "max"] : ["-cpu", "host"]),
    "-smp",
    `${processors(limits)}`,
    "-m",
    `${memoryMib(limits)}M`,
    "-nodefaults",
    "-no-user-config",
    "-no-reboot",
    "-display",
    "none",
    "-nic",
    "none",
    "-kernel",
    kernel,
    "-initrd",
    initramfs,
    "-append",
    kernelArgs(limits, "vport?p1", emulates ? emulated : []),
    "-drive",
    `id=image,file=${image.replaceAll(",", ",,")},format=raw,if=none,readonly=on`,
    "-device",
    "virtio-blk-device,drive=image",
    "-chardev",
    "stdio,id=link,signal=off",
    "-device",
    "virtio-serial-device",
    "-device",
    "virtserialport,chardev=link,name=aicr",
    "-sandbox",
    "on,obsolete=deny,spawn=deny,resourcecontrol=deny",
    ...(isRoot ? ["-runas", "nobody"] : [])
  ]
}

const firecrackerSettings = ({ image, initramfs, kernel, limits }: Machine): object => ({
  "boot-source": {
    kernel_image_path: kernel,
    initrd_path: initramfs,
    boot_args: kernelArgs(limits, "ttyS0", ["8250.nr_uarts=1"])
  },
  drives: [{ drive_id: "image", path_on_host: image, is_root_device: false, is_read_only: true }],
  "machine-config": { vcpu_count: processors(limits), mem_size_mib: memoryMib(limits) }
})

export const monitors: Readonly<Record<MonitorKind, MonitorRow>> = {
  qemu: { args: qemuArgs },
  firecracker: {
    args: ({ mark, settingsFile }) => ["--no-api", "--id", mark, "--config-file", settingsFile],
    settings: firecrackerSettings
  }
}
