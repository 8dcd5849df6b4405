/** A service that starts one sandbox and is killed with SIGKILL. As a program: arguments are the fixture, the configuration, the script. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Effect, Stream } from "effect"
import type { SandboxConfig } from "../../src/config/schema/Agent.ts"
import { makeDrivers } from "../../src/sandbox/SandboxKinds.ts"
import { requestOver, start, using } from "./Fixture.ts"
import type { Fixture } from "./Fixture.ts"

/** Kills the service once its program has printed a line. */
export const killedService = async (
  fixture: Fixture,
  config: typeof SandboxConfig.Type,
  script: string,
  path = process.env["PATH"] ?? ""
): Promise<void> => {
  const place = { root: fixture.root, repository: fixture.repository, sockets: fixture.sockets, folder: fixture.folder }
  const args = [import.meta.filename, JSON.stringify(place), JSON.stringify(config), script]
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, PATH: path }
  })
  const ended = once(child, "exit")
  for await (const line of createInterface(child.stdout)) if (line === "started") child.kill("SIGKILL")
  await ended
}

if (import.meta.main) {
  const [, , place = "", config = "", script = ""] = process.argv
  const at = JSON.parse(place)
  const fixture: Fixture = { ...at, request: requestOver(at), close: () => Promise.resolve() }
  const kind = { config: JSON.parse(config), drivers: makeDrivers(process.env) }
  await using(
    fixture,
    kind,
    Effect.flatMap(start(fixture, kind, script), ({ lines }) =>
      Stream.runForEach(lines, (line) => Effect.sync(() => process.stdout.write(`${line}\n`)))
    )
  )
}
