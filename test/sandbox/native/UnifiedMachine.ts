/**
 * A virtual machine with the layout of control groups that has one hierarchy, in which a service starts native sandboxes: as root, and as another
 * user to whom a service manager gave a group.
 */
import { execFile } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { bundleScript, loadBundler } from "../../../src/app/program/Bundle.mjs"
import { writeInitramfs } from "../../../src/sandbox/microvm/Initramfs.ts"
import { modules } from "../../../src/sandbox/microvm/StartScript.ts"
import { makeMicrovm } from "../../harness/Microvm.ts"
import { provide } from "../../harness/Provide.ts"
import type { Outcome, Program } from "../Fixture.ts"
import { otherUser } from "../OtherUser.ts"

export interface MachineJob {
  readonly isRoot: boolean
  readonly program: Program
  readonly limits: object
}

const root = join(import.meta.dirname, "../../..")
const place = {
  root: "/place",
  repository: "/place/repository",
  folder: "/place/sandboxes",
  sockets: { model: "/place/model.sock", tools: "/place/tools.sock" }
}
const begin = "outcome of job "

const init = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for name in ${modules.join(" ")}; do [ -e /modules/$name.ko ] && insmod /modules/$name.ko; done
n=0; until [ -e /dev/vda ]; do n=$((n+1)); [ $n -gt 600 ] && reboot -f; sleep 0.05; done
mount -t ext4 -o ro /dev/vda /lower
mount -t tmpfs tmpfs /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root
mkdir -p /root/proc /root/sys /root/dev /root/place
cp -r /jobs /second /root/
umount /proc
mount --move /dev /root/dev
exec switch_root /root /second
`

const groups = "/sys/fs/cgroup"
const second = (jobs: ReadonlyArray<MachineJob>): string => `#!/usr/bin/busybox sh
export PATH=/usr/bin HOME=/place
b=/usr/bin/busybox
cd /
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t cgroup2 cgroup2 ${groups}
$b mount -t tmpfs tmpfs /tmp
$b ifconfig lo up
echo "+memory +pids +cpu" >${groups}/cgroup.subtree_control
$b mkdir -p ${place.repository} ${groups}/service/own
echo "+memory +pids +cpu" >${groups}/service/cgroup.subtree_control
$b chown -R ${otherUser} ${groups}/service
echo reviewed >${place.repository}/file.txt
$b touch ${place.sockets.model} ${place.sockets.tools}
${jobs
  .map(({ isRoot }, at) => {
    const run = `node /job/RunJob.mjs "$($b cat /jobs/${at})" </dev/null`
    const asUser = `/usr/bin/setpriv --reuid=${otherUser} --regid=${otherUser} --clear-groups --bounding-set=-all --inh-caps=-all`
    const own = `$b chown -R ${otherUser} /place; (echo 0 >${groups}/service/own/cgroup.procs; exec ${asUser} ${run})`
    return `echo; echo "${begin}${at}"; ${isRoot ? run : own}; $b rm -rf ${place.folder}`
  })
  .join("\n")}
$b poweroff -f
`

const settings =
  "console=ttyS0 quiet panic=-1 reboot=t random.trust_cpu=on tsc_early_khz=1000000 lpj=2000000 no_timer_check"

const machine = (
  "-M microvm,accel=tcg,rtc=on,isa-serial=on,usb=off -cpu max -smp 2 -m 1200M " +
  "-nodefaults -no-user-config -no-reboot -display none -nic none -serial stdio"
).split(" ")

/** Runs programs in native sandboxes of the machine, one after the other. */
export const runInMachine = async (jobs: ReadonlyArray<MachineJob>): Promise<ReadonlyArray<Outcome>> => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-machine-"))
  const bundler = await loadBundler()
  if (bundler === undefined) throw new Error("the bundler is not installed")
  await bundleScript(bundler, join(folder, "job"), { RunJob: join(import.meta.dirname, "../RunJob.ts") })
  const busybox = join(provide("busybox"), "busybox")
  provide("bubblewrap")
  // The bundle reads texts of programs where their sources are.
  const sources = { [`.${root}/src/sandbox`]: join(root, "src/sandbox") }
  const parts = makeMicrovm({ job: join(folder, "job"), ...sources, "usr/bin/busybox": busybox }, ["bwrap", "chmod"])
  try {
    const entries = [
      ...["bin", "modules", "lower", "upper", "root", "proc", "dev", "jobs"].map((path) => ({ path })),
      { path: "bin/busybox", content: readFileSync(busybox), isProgram: true },
      { path: "init", content: Buffer.from(init), isProgram: true },
      { path: "second", content: Buffer.from(second(jobs)), isProgram: true },
      ...jobs.map(({ limits, program }, at) => ({
        path: `jobs/${at}`,
        content: Buffer.from(JSON.stringify({ place, config: { kind: "native" }, installation: [], program, limits }))
      })),
      ...modules.flatMap((name) =>
        globSync(join(parts.modules_dir, `kernel/**/${name}.ko`)).map((file) => ({
          path: `modules/${name}.ko`,
          content: readFileSync(file)
        }))
      )
    ]
    const initramfs = join(folder, "initramfs")
    writeFileSync(initramfs, writeInitramfs(entries))
    const { stdout } = await promisify(execFile)(
      join(provide("qemu"), "qemu-system-x86_64"),
      [
        ...machine,
        "-kernel",
        parts.kernel,
        "-initrd",
        initramfs,
        "-append",
        settings,
        "-drive",
        `file=${parts.root_image},format=raw,if=none,readonly=on,id=image`,
        "-device",
        "virtio-blk-device,drive=image"
      ],
      { maxBuffer: 1e8 }
    )
    return stdout
      .split(begin)
      .slice(1)
      .map((text) =>
        JSON.parse(text.split("\n").find((line) => line.startsWith("{")) ?? `{"printed":${JSON.stringify(text)}}`)
      )
  } finally {
    parts.remove()
    rmSync(folder, { recursive: true })
  }
}
