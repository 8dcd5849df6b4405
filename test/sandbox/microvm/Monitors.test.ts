/** Command lines and settings of the programs that run virtual machines. */
import { expect, it } from "vitest"
import { monitors } from "../../../src/sandbox/microvm/Monitors.ts"
import type { Machine } from "../../../src/sandbox/microvm/Monitors.ts"
import { testLimits } from "../Fixture.ts"

const machine: Machine = {
  mark: "7-abc-1",
  program: "/bin/monitor",
  kernel: "/k/vmlinuz",
  initramfs: "/f/initramfs",
  image: "/i/agents,1.ext4",
  limits: { ...testLimits, cpus: 1.5 },
  emulates: false,
  isRoot: true,
  settingsFile: "/f/machine.json"
}
const settings = "aicr_files=16777216 aicr_memory=268435456 aicr_processes=64 aicr_cpu=150000"

it("QEMU gets an image that is read-only, no network, and the limits", () => {
  const line = monitors.qemu.args(machine).join(" ")
  expect(line).toContain("-M microvm,accel=kvm,")
  expect(line).toContain("-smp 2 -m 576M -nodefaults -no-user-config")
  expect(line).toContain("file=/i/agents,,1.ext4,format=raw,if=none,readonly=on")
  expect(line).toContain(`aicr_link=vport?p1 ${settings} `)
  expect(line).toContain("-nic none")
  expect(line).toContain("-sandbox on,obsolete=deny,spawn=deny,resourcecontrol=deny -runas nobody")
  expect(line).not.toContain("accel=tcg")
})

it("QEMU emulates the processor only if that is permitted, and keeps the rights of a service that is not root", () => {
  const line = monitors.qemu.args({ ...machine, emulates: true, isRoot: false }).join(" ")
  expect(line).toContain("-M microvm,accel=tcg,")
  expect(line).toContain("lpj=2000000")
  expect(line).not.toContain("-runas")
})

it("Firecracker gets the same machine as settings", () => {
  expect(monitors.firecracker.args(machine)).toEqual([
    "--no-api",
    "--id",
    "7-abc-1",
    "--config-file",
    "/f/machine.json"
  ])
  expect(monitors.firecracker.settings?.(machine)).toEqual({
    "boot-source": {
      kernel_image_path: "/k/vmlinuz",
      initrd_path: "/f/initramfs",
      boot_args: expect.stringContaining(`aicr_link=ttyS0 ${settings}`)
    },
    drives: [{ drive_id: "image", path_on_host: "/i/agents,1.ext4", is_root_device: false, is_read_only: true }],
    "machine-config": { vcpu_count: 2, mem_size_mib: 576 }
  })
})
