/** The launcher starts programs with the guarantees of a child, and survives its own end. */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { layer, start } from "../../../src/vcs/process/Launcher.ts"
import { waitUntil } from "../../harness/Wait.ts"

/** Children of all threads of a process. */
const children = (pid: number): ReadonlyArray<number> =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").trim().split(" ").filter(Boolean).map(Number)
  )
const commandLine = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1")
  } catch {
    return ""
  }
}
const findLauncher = (): number | undefined =>
  children(process.pid).find((pid) => commandLine(pid).includes("LauncherMain"))
const env = { PATH: process.env["PATH"] ?? "" }
const sh = (script: string, cwd = "/") => start({ program: "sh", args: ["-c", script], cwd, env })
/** Whether commands are started by the launcher, which is not their parent's parent. */
const isLaunched = async (): Promise<boolean> => {
  const child = await sh("echo $PPID")
  child.stdin.end()
  return Number(await text(child.stdout)) === findLauncher()
}

describe("the launcher", () => {
  const scope = Scope.makeUnsafe()
  beforeAll(async () => {
    await Effect.runPromise(Layer.buildWithScope(layer, scope))
    await waitUntil(isLaunched, { describe: () => "no launcher" })
  })
  afterAll(async () => {
    const socket = commandLine(findLauncher() ?? 0)
      .split("\0")
      .find((part) => part.endsWith("/socket"))
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await waitUntil(() => findLauncher() === undefined, { describe: () => "the launcher runs on" })
    expect(socket).toBeDefined()
    expect(existsSync(socket ?? "")).toBe(false)
  })

  it("connects input, output and errors, and reports the exit code", async () => {
    const child = await sh("cat; echo problem >&2; exit 7")
    child.stdin.end("text")
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect([output, errors, await child.closed]).toEqual(["text", "problem\n", { code: 7, signal: undefined }])
  })

  it("loses nothing of a long output whose reader begins late, and of an input that is not read", async () => {
    const child = await sh("head -c 20000000 /dev/zero | tr '\\0' x")
    child.stdin.on("error", () => {})
    child.stdin.write("y".repeat(300_000))
    await waitUntil(() => child.stdout.readableLength > 0, { describe: () => "no output" })
    expect((await text(child.stdout)).length).toBe(20_000_000)
    child.stderr.resume()
    expect(await child.closed).toMatchObject({ code: 0 })
  })

  it("starts many at a time", async () => {
    const codes = await Promise.all(
      Array.from({ length: 40 }, async (_, code) => {
        const child = await sh(`exit ${code}`)
        child.stdout.resume()
        child.stderr.resume()
        return (await child.closed).code
      })
    )
    expect(codes).toEqual(Array.from({ length: 40 }, (_, code) => code))
  })

  it("connects commands that end while this process is busy", async () => {
    const starting = Array.from({ length: 10 }, () => sh("echo short; exit 3"))
    // Both the connections and the reports arrive during this time.
    const until = performance.now() + 300
    while (performance.now() < until);
    for (const child of await Promise.all(starting)) {
      child.stderr.resume()
      expect([await text(child.stdout), (await child.closed).code]).toEqual(["short\n", 3])
    }
  })

  it("gives only the environment and the folder of the command", async () => {
    const folder = mkdtempSync(join(tmpdir(), "aicr-test-"))
    const child = await start({ program: "sh", args: ["-c", "pwd; env"], cwd: folder, env: { ...env, MARK: "1" } })
    const lines = (await text(child.stdout)).trim().split("\n")
    expect(lines[0]).toBe(folder)
    expect(
      lines
        .slice(1)
        .map((line) => line.split("=")[0])
        .filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name ?? ""))
        .toSorted()
    ).toEqual(["MARK", "PATH"])
    rmSync(folder, { recursive: true })
  })

  it("signals the whole group", async () => {
    const child = await sh("sleep 1000 & echo $!; wait")
    const [first] = await child.stdout.take(1).toArray()
    const grandchild = Number(String(first))
    child.signal("SIGTERM")
    expect(await child.closed).toEqual({ code: undefined, signal: "SIGTERM" })
    await waitUntil(() => commandLine(grandchild) === "", { describe: () => "a process runs on" })
  })

  it("reports a program that cannot be started", async () => {
    const child = await sh("true", "/no/such/folder")
    expect(await child.closed).toMatchObject({ code: undefined, error: expect.stringContaining("ENOENT") })
  })

  it("that is killed ends its commands, and another one starts the next", async () => {
    const child = await sh("echo up; sleep 1000")
    await waitUntil(() => child.stdout.readableLength > 0, { describe: () => "no output" })
    child.stdout.resume()
    child.stderr.resume()
    const former = findLauncher()
    process.kill(former ?? 0, "SIGKILL")
    expect(await child.closed).toEqual({ code: undefined, signal: "SIGKILL" })
    await waitUntil(() => commandLine(child.pid ?? 0) === "", { describe: () => "a process runs on" })
    const next = await sh("echo $PPID")
    expect(await text(next.stdout)).not.toBe("")
    await waitUntil(isLaunched, { describe: () => "no launcher" })
    expect(findLauncher()).not.toBe(former)
  })

  it("that is killed before it read a command leaves it to the service", async () => {
    await waitUntil(isLaunched, { describe: () => "no launcher" })
    const former = findLauncher() ?? 0
    process.kill(former, "SIGSTOP")
    // The connection of a process with unread data is reset, instead of closed.
    const command = sh("echo done")
    process.kill(former, "SIGKILL")
    expect(await text((await command).stdout)).toBe("done\n")
    await waitUntil(isLaunched, { describe: () => "no launcher" })
  })

  it("ends with the service, with everything that it started", async () => {
    const source = `
      import { Effect, Layer } from "effect"
      import { layer, start } from ${JSON.stringify(join(import.meta.dirname, "../../../src/vcs/process/Launcher.ts"))}
      Effect.runFork(Layer.launch(layer))
      const run = async () => {
        const child = await start({ program: "sh", args: ["-c", "echo $PPID $$; exec sleep 1000"], cwd: "/", env: ${JSON.stringify(env)} })
        const [first] = await child.stdout.take(1).toArray()
        const [parent, pid] = String(first).trim().split(" ").map(Number)
        if (parent === process.pid) { process.kill(pid, "SIGKILL"); return setTimeout(run, 20) }
        console.log(parent, pid)
        setInterval(() => {}, 1000)
      }
      await run()`
    const service = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", source],
      {
        cwd: import.meta.dirname,
        stdio: ["ignore", "pipe", "inherit"]
      }
    )
    const [first] = await service.stdout.take(1).toArray()
    const pids = String(first).trim().split(" ").map(Number)
    expect(pids).toHaveLength(2)
    // A process that replaces its program has no arguments for a moment.
    await waitUntil(() => pids.every((pid) => commandLine(pid) !== ""), {
      describe: () => pids.map(commandLine).join()
    })
    service.kill("SIGKILL")
    await waitUntil(() => pids.every((pid) => commandLine(pid) === ""), {
      describe: () => pids.map(commandLine).join()
    })
  })
})
