/**
 * A virtual machine whose control groups have one hierarchy, with services that start sandboxes: as root, and as another user to whom a
 * service manager gave a group, with podman or without. It consists of Debian's kernel for clouds and programs of this machine.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { bundleScript, loadBundler } from "../../src/app/program/Bundle.mjs"
import { writeInitramfs } from "../../src/sandbox/microvm/Initramfs.ts"
import { modules } from "../../src/sandbox/microvm/StartScript.ts"
import { makeDisk, makeMicrovm } from "../harness/Microvm.ts"
import { makeImage } from "../harness/Podman.ts"
import { provide } from "../harness/Provide.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Elsewhere, ServiceRequest, ServiceResponse } from "./Elsewhere.ts"
import { init, second } from "./MachineScripts.ts"
import type { MachineUser } from "./MachineScripts.ts"

export interface Machine {
  /** The services in the order of their users. */
  readonly services: ReadonlyArray<Elsewhere>
  readonly stop: () => Promise<void>
}

const root = join(import.meta.dirname, "../..")

const settings =
  "console=ttyS0 quiet panic=-1 reboot=t random.trust_cpu=on tsc_early_khz=1000000 lpj=2000000 no_timer_check"

const machine = (
  "-M microvm,accel=tcg,rtc=on,isa-serial=on,usb=off -cpu max -smp 2 -m 1600M " +
  "-nodefaults -no-user-config -no-reboot -display none -nic none -serial stdio -device virtio-serial-device"
).split(" ")

/** The parts of podman, and of a service manager of a user. */
const engineParts = () => ({
  programs: [
    join(provide("podman"), "podman"),
    join(provide("conmon"), "conmon"),
    join(provide("crun"), "crun"),
    ...["newuidmap", "newgidmap"].map((name) => join(provide("uidmap"), name)),
    join(provide("systemd"), "systemd"),
    ...globSync("/lib/systemd/systemd-executor"),
    "dbus-daemon"
  ],
  folders: Object.fromEntries(
    [provide("userBus"), "/usr/share/dbus-1/session.conf", "/usr/share/containers", "/etc/containers/policy.json"].map(
      (path) => [path, path]
    )
  )
})

const makeParts = async (folder: string) => {
  const bundler = await loadBundler()
  if (bundler === undefined) throw new Error("the bundler is not installed")
  await bundleScript(bundler, join(folder, "job"), { MachineService: join(import.meta.dirname, "MachineService.ts") })
  const image = join(folder, "image.tar")
  makeImage(image, "link")
  provide("bubblewrap")
  const engine = engineParts()
  return makeMicrovm({
    size: "1G",
    programs: ["bwrap", "chmod", ...engine.programs],
    folders: {
      job: join(folder, "job"),
      "image.tar": image,
      "usr/bin/busybox": join(provide("busybox"), "busybox"),
      // The bundle reads texts of programs where their sources are.
      [`.${root}/src/sandbox`]: join(root, "src/sandbox"),
      ...engine.folders
    }
  })
}

/** Requests to a service in their order. */
const serviceAt = async (socket: string, broken: Promise<never>): Promise<Elsewhere> => {
  const port = connect(socket)
  await once(port, "connect")
  const lines = createInterface(port)[Symbol.asyncIterator]()
  let turn: Promise<unknown> = Promise.resolve()
  const send = async <A>(request: ServiceRequest): Promise<A> => {
    port.write(`${JSON.stringify(request)}\n`)
    // The service also logs.
    let line = ""
    while (!line.startsWith("{")) {
      const next = await Promise.race([lines.next(), broken])
      if (next.done === true) return broken
      line = next.value
    }
    const response: ServiceResponse<A> = JSON.parse(line)
    if ("failed" in response) throw new Error(response.failed)
    return response.value
  }
  const inTurn = <A>(request: ServiceRequest): Promise<A> => {
    const sent = turn.then(() => send<A>(request))
    turn = sent.catch(() => {})
    return sent
  }
  return {
    files: ["/job", "/image.tar", "/data", "/run/user"],
    run: ({ config, installation = [] }, program, limits) =>
      inTurn({ make: "run", kind: { config, installation }, program, limits }),
    kill: ({ config, installation = [] }, script) => inTurn({ make: "kill", kind: { config, installation }, script }),
    look: (text) => inTurn({ make: "look", text })
  }
}

/** Writes the first file system, from which the machine starts. */
const writeStart = (file: string, modulesFolder: string, users: ReadonlyArray<MachineUser>): void => {
  const busybox = join(provide("busybox"), "busybox")
  const entries = [
    ...["bin", "modules", "lower", "upper", "root", "proc", "sys", "dev"].map((path) => ({ path })),
    { path: "bin/busybox", content: readFileSync(busybox), isProgram: true },
    { path: "init", content: Buffer.from(init), isProgram: true },
    { path: "second", content: Buffer.from(second(users)), isProgram: true },
    ...modules.flatMap((name) =>
      globSync(join(modulesFolder, `kernel/**/${name}.ko`)).map((from) => ({
        path: `modules/${name}.ko`,
        content: readFileSync(from)
      }))
    )
  ]
  writeFileSync(file, writeInitramfs(entries))
}

export const startMachine = async (users: ReadonlyArray<MachineUser>): Promise<Machine> => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-machine-"))
  const parts = await makeParts(folder)
  const initramfs = join(folder, "initramfs")
  writeStart(initramfs, parts.modules_dir, users)
  const data = join(folder, "data.ext4")
  makeDisk(data, "3G")
  const sockets = users.map((_, at) => join(folder, `service${at}.sock`))
  const options = [
    ["-kernel", parts.kernel],
    ["-initrd", initramfs],
    ["-append", settings],
    ["-drive", `file=${parts.root_image},format=raw,if=none,readonly=on,id=image`],
    ["-device", "virtio-blk-device,drive=image,serial=image"],
    ["-drive", `file=${data},format=raw,if=none,cache=unsafe,id=data`],
    ["-device", "virtio-blk-device,drive=data,serial=data"],
    ...sockets.flatMap((path, at) => [
      ["-chardev", `socket,id=service${at},path=${path},server=on,wait=off`],
      ["-device", `virtserialport,chardev=service${at},nr=${at + 1}`]
    ])
  ]
  const qemu = spawn(join(provide("qemu"), "qemu-system-x86_64"), [...machine, ...options.flat()], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  let printed = ""
  qemu.stdout.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-8000)))
  const ended = once(qemu, "exit")
  const broken = ended.then(() => {
    throw new Error(`the machine has ended: ${printed}`)
  })
  broken.catch(() => {})
  await waitUntil(() => sockets.every((path) => existsSync(path)), { describe: () => "the monitor listens" })
  const services = await Promise.all(sockets.map((socket) => serviceAt(socket, broken)))
  // The first response shows that a service has started, with its engine.
  await Promise.all(services.map((service) => service.look("sleep")))
  return {
    services,
    stop: async () => {
      qemu.kill("SIGKILL")
      await ended
      parts.remove()
      rmSync(folder, { recursive: true })
    }
  }
}
