/** Locations of a token while a fetch runs, and the files that remain of a fetch that is cut short. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { Effect, Fiber, Redacted } from "effect"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { redact } from "../../../src/vcs/git/GitFailure.ts"
import { startGitServer } from "../GitServer.ts"
import type { GitServer } from "../GitServer.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const token = "s3cr3t-tok3n-0123456789abcdef"
const projects = temporaryFolder()
const repository = makeRepository(join(projects, "shop"))
let server: GitServer
let head = ""

beforeAll(async () => {
  repository.write("a.ts", "1\n")
  head = repository.commit()
  server = await startGitServer({ root: projects, authorization: `Basic ${token}` })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
  server.hold = undefined
})

const checkout = (root: string, fetchTimeoutMillis?: number) =>
  Effect.scoped(
    Effect.flatMap(Vcs, (vcs) =>
      vcs.checkout({
        url: `${server.url}/shop/.git`,
        mirror: "shop",
        authorization: Redacted.make(`Authorization: Basic ${token}`),
        head,
        base: head,
        headRef: undefined,
        baseRef: undefined,
        rules: undefined,
        compare: "endpoints"
      })
    ).pipe(Effect.flatMap((found) => Effect.andThen(found.directory, found.file("a.ts", "head", 10))))
  ).pipe(
    Effect.provide(
      layerGit({ root, limits: () => localLimits, ...(fetchTimeoutMillis === undefined ? {} : { fetchTimeoutMillis }) })
    )
  )

interface Process {
  readonly pid: string
  readonly argv: string
  readonly environment: string
}

const processes = (): ReadonlyArray<Process> =>
  readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8")
        return [{ pid, argv, environment: argv.includes("git") ? readFileSync(`/proc/${pid}/environ`, "utf8") : "" }]
      } catch {
        return []
      }
    })

/** Processes of this test's fetch: they name its server. */
const ours = () => processes().filter(({ argv }) => argv.includes(server.url))

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

const filesUnder = (root: string): ReadonlyArray<string> =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

it.runIf(process.platform === "linux")(
  "a token is in the environment of git only: not in argv, not on disk",
  async () => {
    const root = temporaryFolder()
    let release = () => {}
    server.hold = new Promise((resolve) => (release = resolve))
    const running = Effect.runPromise(checkout(root))
    await until(() => server.requests.length > 0)
    const during = ours()
    expect(during.length).toBeGreaterThan(0)
    expect(during.some(({ environment }) => environment.includes(token))).toBe(true)
    expect(processes().filter(({ argv }) => argv.includes(token))).toEqual([])
    release()
    expect(await running).toBe("1\n")
    expect(filesUnder(root).length).toBeGreaterThan(5)
    expect(filesUnder(root).filter((file) => readFileSync(file).includes(token))).toEqual([])
  }
)

it.runIf(process.platform === "linux").each([["interruption"], ["a timeout"]])(
  "%s ends git and its helpers, and the next fetch works",
  async (how) => {
    const root = temporaryFolder()
    server.hold = new Promise(() => {})
    const outcome =
      how === "a timeout"
        ? Effect.runPromiseExit(checkout(root, 500))
        : Effect.runPromise(
            Effect.gen(function* () {
              const fiber = yield* Effect.forkChild(checkout(root))
              yield* Effect.promise(() => until(() => server.requests.length > 0))
              yield* Fiber.interrupt(fiber)
              return yield* Fiber.await(fiber)
            })
          )
    const exit = await outcome
    expect(exit._tag).toBe("Failure")
    expect(ours()).toEqual([])
    server.hold = undefined
    expect(await Effect.runPromise(checkout(root))).toBe("1\n")
  }
)

it("does not follow a redirect with a credential", async () => {
  const { createServer } = await import("node:http")
  const elsewhere: Array<string | undefined> = []
  const thief = createServer((request, response) => {
    elsewhere.push(request.headers.authorization)
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve))
  const address = thief.address()
  const port = typeof address === "object" ? address?.port : undefined
  const redirecting = createServer((request, response) => {
    response.writeHead(301, { location: `http://localhost:${port}${request.url}` }).end()
  })
  await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve))
  const from = redirecting.address()
  const real = server.url
  Object.assign(server, { url: `http://127.0.0.1:${typeof from === "object" ? from?.port : 0}` })
  try {
    expect((await Effect.runPromiseExit(checkout(temporaryFolder())))._tag).toBe("Failure")
    expect(elsewhere).toEqual([])
  } finally {
    Object.assign(server, { url: real })
    thief.close()
    redirecting.close()
  }
})

it("redacts what git repeats", () => {
  const said = `fatal: unable to access 'https://user:pw@host/x.git/': Authorization: Basic ${token} refused`
  const clean = redact(said, [`Authorization: Basic ${token}`])
  expect(clean).not.toContain(token)
  expect(clean).not.toContain("pw@")
  const header = `Authorization: Basic ${Buffer.from("oauth2:t0p-secret").toString("base64")}`
  expect(redact("remote: wrong password for oauth2:t0p-secret", [header])).toBe("remote: wrong password for [redacted]")
})
