/**
 * A depot on a real p4d, started on a free port in a folder of its own, with p4 from the path. For machines that have both: set `P4D` to the
 * path of the server.
 */
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { freePort } from "../FreePort.ts"
import { waitUntil } from "../Wait.ts"
import { p4Password, p4User } from "./PerforceDepot.ts"
import type { P4Edit, PerforceDepot } from "./PerforceDepot.ts"

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("error", () => resolve(false))
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
  })

export const makeRealDepot = async (p4d: string): Promise<PerforceDepot> => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-p4d-"))
  const [root, work] = [join(folder, "root"), join(folder, "work")]
  for (const one of [root, work]) mkdirSync(one)
  const free = await freePort()
  const port = `127.0.0.1:${free}`
  const server = spawn(p4d, ["-r", root, "-p", port, "-L", "log"], { stdio: "ignore" })
  await waitUntil(() => accepts(free), { describe: () => "p4d accepts connections" })
  const environment = (user: string) => ({
    PATH: process.env["PATH"],
    HOME: folder,
    P4PORT: port,
    P4USER: user,
    P4CLIENT: `${user}-laptop`,
    P4TICKETS: join(folder, "tickets"),
    P4ENVIRO: join(folder, "environment")
  })
  const p4 = (user: string, args: ReadonlyArray<string>, input = ""): string =>
    execFileSync("p4", args, { env: environment(user), cwd: work, input, encoding: "utf8" })
  const clients = new Set<string>()
  const prepare = (user: string): void => {
    if (clients.has(user)) return
    clients.add(user)
    p4(user, ["user", "-f", "-i"], `User: ${user}\nEmail: ${user}@example.test\nFullName: ${user}\n`)
    p4(
      user,
      ["client", "-i"],
      `Client: ${user}-laptop\nOwner: ${user}\nRoot: ${join(work, user)}\nView:\n\t//depot/... //${user}-laptop/...\n`
    )
  }
  prepare(p4User)
  p4(p4User, ["passwd"], `${p4Password}\n${p4Password}\n`)
  prepare("ada")
  const local = (user: string, depotFile: string): string => join(work, user, depotFile.replace("//depot/", ""))
  const open = (user: string, edit: P4Edit): void => {
    p4(user, ["sync", "-q", "-f"])
    for (const [source, target] of Object.entries(edit.move ?? {})) {
      p4(user, ["edit", source])
      p4(user, ["move", source, target])
    }
    for (const [source, target] of Object.entries(edit.branch ?? {})) p4(user, ["integrate", source, target])
    for (const [file, content] of Object.entries(edit.files ?? {})) {
      const path = local(user, file)
      if (content === null) {
        p4(user, ["delete", file])
        continue
      }
      const exists = p4(user, ["files", "-e", file]).includes(" - ")
      if (exists) p4(user, ["edit", file])
      mkdirSync(dirname(path), { recursive: true })
      try {
        chmodSync(path, 0o644)
      } catch {
        // It is new.
      }
      writeFileSync(path, content)
      const type = edit.types?.[file]
      if (!exists) p4(user, ["add", ...(type === undefined ? [] : ["-t", type]), "-f", path])
    }
  }
  const newest = (user: string): string => /Change (\d+)/.exec(p4(user, ["changes", "-m", "1"]))?.[1] ?? "0"
  return {
    port,
    program: "p4",
    submit: (description, edit) => {
      const user = edit.user ?? "ada"
      prepare(user)
      open(user, edit)
      p4(user, ["submit", "-d", description])
      return newest(user)
    },
    shelve: (description, edit, change) => {
      const user = edit.user ?? "ada"
      prepare(user)
      open(user, edit)
      const number =
        change ??
        /Change (\d+)/.exec(
          p4(
            user,
            ["change", "-i"],
            `Change: new\nDescription: ${description}\nFiles:\n${p4(user, ["opened"])
              .split("\n")
              .flatMap((line) => (line === "" ? [] : [`\t${line.split("#", 1)[0]}`]))
              .join("\n")}\n`
          )
        )?.[1]
      p4(user, ["shelve", "-f", "-c", String(number)])
      p4(user, ["revert", "-q", "//..."])
      return String(number)
    },
    [Symbol.asyncDispose]: async () => {
      server.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
