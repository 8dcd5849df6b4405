/** A service that starts one sandbox and is killed with SIGKILL. As a program: arguments are the fixture, the kind, the script. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Effect, Stream } from "effect"
import { makeDrivers } from "../../src/sandbox/drivers/SandboxKinds.ts"
import { waitUntil } from "../harness/Wait.ts"
import { requestOver, start, using } from "./Fixture.ts"
import type { Fixture, KindUnderTest } from "./Fixture.ts"
import { serviceArgv } from "./OtherUser.ts"
import type { ServiceUser } from "./OtherUser.ts"

export interface KilledOptions extends ServiceUser {
  /** Whether the service is ready to be killed. Default: once its program has printed a line. */
  readonly isReady?: () => boolean
  /** The program of the service, which calls `startFrom` with its arguments. */
  readonly file?: string
}

export const killedService = async (
  fixture: Fixture,
  { config, environment, installation }: Omit<KindUnderTest, "drivers">,
  script: string,
  { file = import.meta.filename, isReady, ...user }: KilledOptions = {}
): Promise<void> => {
  const place = { root: fixture.root, repository: fixture.repository, sockets: fixture.sockets, folder: fixture.folder }
  const job = [JSON.stringify(place), JSON.stringify({ config, installation }), script]
  const [command, args] = serviceArgv(user, file, environment?.["PATH"], job)
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment, PATH: process.env["PATH"] }
  })
  const ended = once(child, "exit")
  if (isReady !== undefined) {
    await waitUntil(isReady, { describe: () => "the sandbox is starting" })
    child.kill("SIGKILL")
  }
  for await (const line of createInterface(child.stdout)) if (line === "started") child.kill("SIGKILL")
  await ended
}

export const startFrom = async ([place = "", kindText = "", script = ""]: ReadonlyArray<string>): Promise<void> => {
  const at = JSON.parse(place)
  const fixture: Fixture = { ...at, request: requestOver(at), close: () => Promise.resolve() }
  const kind = { ...JSON.parse(kindText), drivers: makeDrivers(process.env) }
  await using(
    fixture,
    kind,
    Effect.flatMap(start(fixture, kind, script), ({ lines }) =>
      Stream.runForEach(lines, (line) => Effect.sync(() => process.stdout.write(`${line}\n`)))
    )
  )
}

if (import.meta.main) await startFrom(process.argv.slice(2))
