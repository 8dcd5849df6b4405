/** Parts of sandbox tests: two unix sockets of a service, a repository, and programs that run in a sandbox. */
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:http"
import type { Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import type { Scope } from "effect"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { SandboxConfig } from "../../src/config/schema/Agent.ts"
import { Sandboxes } from "../../src/sandbox/Sandbox.ts"
import type {
  SandboxError,
  SandboxExit,
  SandboxLimits,
  SandboxPaths,
  SandboxProgram,
  SandboxRequest
} from "../../src/sandbox/Sandbox.ts"
import { sandboxesOver } from "../../src/sandbox/SandboxesLayer.ts"
import type { Drivers } from "../../src/sandbox/drivers/SandboxKinds.ts"
import { inEnglish } from "../../src/text/en.ts"

const mib = 1_048_576

export const testLimits: SandboxLimits = {
  memoryBytes: 256 * mib,
  cpus: 2,
  processes: 64,
  fileBytes: 16 * mib,
  outputBytes: 4 * mib,
  timeMillis: 20_000
}

export interface Outcome {
  readonly exit: SandboxExit
  readonly lines: ReadonlyArray<string>
  readonly stderr: string
  readonly notices: ReadonlyArray<string>
}

export interface Fixture {
  readonly root: string
  readonly repository: string
  readonly sockets: SandboxRequest["sockets"]
  /** The folder of the service's sandboxes. */
  readonly folder: string
  readonly request: (program: Program, limits?: Partial<SandboxLimits>) => SandboxRequest
  readonly close: () => Promise<void>
}

/** A shell script, or the complete program. `$REPO`, `$SCRATCH`, `$MODEL` and `$TOOLS` are the locations inside. */
export type Program = string | Partial<SandboxProgram>

const complete = (program: Program, paths: SandboxPaths): SandboxProgram => ({
  command: "/bin/sh",
  args: typeof program === "string" ? ["-c", program] : [],
  files: [],
  ...(typeof program === "string" ? {} : program),
  environment: {
    PATH: "/run/aicr:/usr/local/bin:/usr/bin:/bin",
    HOME: paths.scratch,
    REPO: paths.repository,
    SCRATCH: paths.scratch,
    MODEL: `${paths.modelPort}`,
    TOOLS: `${paths.toolsPort}`,
    ...(typeof program === "string" ? {} : program.environment)
  }
})

/** An HTTP server on a socket that replies with its name and the body of the request. */
const serve = (name: string, socket: string): Promise<Server> =>
  new Promise((done) => {
    const server = createServer((request, response) => {
      request.setEncoding("utf8")
      let body = ""
      request.on("data", (text: string) => (body += text)).on("end", () => response.end(`${name} ${body}`))
    })
    server.listen(socket, () => done(server))
  })

/** Builds requests over a repository and sockets. */
export const requestOver =
  ({ repository, sockets }: Pick<Fixture, "repository" | "sockets">): Fixture["request"] =>
  (program, limits = {}) => ({
    labels: { run: "run-1", pass: "pass-1" },
    program: (paths) => complete(program, paths),
    repository,
    installation: [],
    limits: { ...testLimits, ...limits },
    sockets
  })

/** Makes the parts. Those of another user belong to that one, and are in a folder that every user enters. */
export const makeFixture = async (user?: number): Promise<Fixture> => {
  const root = mkdtempSync(join(user === undefined ? tmpdir() : "/tmp", "aicr-sandbox-"))
  const repository = join(root, "repository")
  mkdirSync(repository, { mode: 0o700 })
  writeFileSync(join(repository, "file.txt"), "reviewed\n", { mode: 0o600 })
  const sockets = { model: join(root, "model.sock"), tools: join(root, "tools.sock") }
  const servers = [await serve("model", sockets.model), await serve("tools", sockets.tools)]
  if (user !== undefined)
    for (const path of [root, repository, join(repository, "file.txt"), sockets.model, sockets.tools])
      chownSync(path, user, user)
  return {
    root,
    repository,
    sockets,
    folder: join(root, "sandboxes"),
    request: requestOver({ repository, sockets }),
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
      }
      rmSync(root, { recursive: true, force: true })
    }
  }
}

export const resolveConfig = (config: typeof SandboxConfig.Type) => resolve(SandboxConfig, config)

/** One kind under test. */
export interface KindUnderTest {
  readonly config: typeof SandboxConfig.Type
  readonly drivers: Drivers
  /** Environment of a service, by which it finds the same drivers. */
  readonly environment?: Readonly<Record<string, string>>
  /** Folders that the kind has to mount for the programs of the tests. */
  readonly installation?: ReadonlyArray<string>
  /** Limits of the kind, where the usual ones are too tight. */
  readonly limits?: Partial<SandboxLimits>
}

/** Runs an effect over the sandboxes of a fixture. */
export const using = <A>(
  fixture: Fixture,
  { drivers }: KindUnderTest,
  effect: Effect.Effect<A, SandboxError, Sandboxes | Scope.Scope>
): Promise<A> => Effect.runPromise(Effect.scoped(effect).pipe(Effect.provide(sandboxesOver(fixture.folder, drivers))))

export const start = (fixture: Fixture, kind: KindUnderTest, program: Program, limits?: Partial<SandboxLimits>) =>
  Effect.gen(function* () {
    const sandboxes = yield* Sandboxes
    return yield* sandboxes.start(resolveConfig(kind.config), {
      ...fixture.request(program, { ...kind.limits, ...limits }),
      installation: kind.installation ?? []
    })
  })

/** Runs to the end and returns everything that was printed. */
export const run = (
  fixture: Fixture,
  kind: KindUnderTest,
  program: Program,
  limits?: Partial<SandboxLimits>
): Promise<Outcome> =>
  using(
    fixture,
    kind,
    Effect.gen(function* () {
      const sandbox = yield* start(fixture, kind, program, limits)
      const lines = yield* Stream.runCollect(sandbox.lines)
      return {
        exit: yield* sandbox.exit,
        lines,
        stderr: yield* sandbox.stderr,
        notices: sandbox.notices.map(inEnglish)
      }
    })
  )

/** Returns the folders of sandboxes that are not removed. */
export const listOrphans = ({ folder }: Fixture): ReadonlyArray<string> =>
  existsSync(folder) ? readdirSync(folder).flatMap((kind) => readdirSync(join(folder, kind))) : []

const readProcess = (pid: string, file: "cmdline" | "mountinfo"): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    return ""
  }
}

/** Processes of this machine whose command line contains the text, also those of tests that run at the same time. */
export const processesWith = (text: string): ReadonlyArray<number> =>
  listPids()
    .filter((pid) => Number(pid) !== process.pid && readProcess(pid, "cmdline").includes(text))
    .map(Number)

/** Returns those of these processes whose sandbox mounts a folder below `folder`. */
export const processesMounting = (folder: string, text: string): ReadonlyArray<number> =>
  processesWith(text).filter((pid) => readProcess(String(pid), "mountinfo").includes(`${folder}/`))

const listPids = (): ReadonlyArray<string> => readdirSync("/proc").filter((name) => /^\d+$/.test(name))

let unique = 0
/** Returns a duration that no other process sleeps for, by which a process is found on this machine. */
export const uniqueSeconds = (): string => `9${process.pid}.${Date.now() % 1_000_000}${++unique}`

/** Returns a folder with a bubblewrap that fails as it does without user namespaces. */
export const brokenBubblewrap = ({ root }: Pick<Fixture, "root">): string => {
  const folder = join(root, "broken")
  mkdirSync(folder)
  writeFileSync(
    join(folder, "bwrap"),
    "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1\n",
    {
      mode: 0o755
    }
  )
  return folder
}
