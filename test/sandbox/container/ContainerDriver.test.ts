/** Containers of podman, through the API that docker has as well. */
import { chmodSync, chownSync } from "node:fs"
import { createServer } from "node:net"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { SandboxError, Sandboxes } from "../../../src/sandbox/Sandbox.ts"
import { startPodman } from "../../harness/Podman.ts"
import type { Podman } from "../../harness/Podman.ts"
import { describeConformance, describeCore } from "../Conformance.ts"
import { listOrphans, makeFixture, resolveConfig, run, using } from "../Fixture.ts"
import type { Fixture } from "../Fixture.ts"
import { isRoot, otherUser } from "../OtherUser.ts"
import { attempts, attemptsProgram } from "../SystemCallAttempts.ts"

let podman: Podman
beforeAll(async () => {
  podman = await startPodman()
}, 60_000)
afterAll(() => podman.stop())

const installation = [dirname(process.execPath)]
const environment = () => ({ CONTAINER_HOST: `unix://${podman.socket}`, DOCKER_HOST: `unix://${podman.socket}` })

describeConformance([
  [
    "podman",
    async () => ({
      config: { kind: "podman", image: podman.image },
      drivers: makeDrivers(environment()),
      environment: environment(),
      installation,
      maxShare: 0.5,
      hasOpenProcesses: true,
      count: async () => podman.run("ps", "--all", "--quiet").split("\n").length - 1
    })
  ]
])

if (isRoot)
  describeCore([
    [
      "podman of a service that is not root, whose user may use the socket",
      async () => {
        chmodSync(dirname(podman.socket), 0o711)
        chownSync(podman.socket, otherUser, otherUser)
        return {
          config: { kind: "podman", image: podman.image },
          drivers: makeDrivers({}),
          environment: environment(),
          installation,
          maxShare: 0.5,
          hasOpenProcesses: true,
          user: otherUser,
          uid: 65_534
        }
      }
    ]
  ])

describe("a container", () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture()
  })
  afterAll(() => fixture.close())
  const kind = (config: object, env: object = environment()) => ({
    config,
    drivers: makeDrivers({ ...env }),
    installation
  })

  it.each(["docker", "docker_socket"])("runs with kind %s", async (name) => {
    const { exit, lines } = await run(fixture, kind({ kind: name, image: podman.image }), "id -u; cat $REPO/file.txt")
    expect({ exit, lines }).toEqual({ exit: { reason: "exited", code: 0 }, lines: ["65534", "reviewed"] })
  })

  it("makes only the system calls that are permitted", async () => {
    const { exit, lines } = await run(fixture, kind({ kind: "podman", image: podman.image }), attemptsProgram)
    // With a control group, a process may hide its memory. Refused arguments fail as an unknown call.
    const results = attempts.map(([name, result]) => {
      if (name.startsWith("prctl")) return `${name} done`
      return `${name} ${result === "done" ? result : "38"}`
    })
    expect({ exit, lines }).toEqual({ exit: { reason: "exited", code: 0 }, lines: results })
  })

  it.each([
    [
      "no engine",
      { kind: "docker", image: "i" },
      { DOCKER_HOST: "unix:///no/such" },
      /failed.*kind docker has no engine: no socket at \/no\/such/
    ],
    [
      "an engine of another machine",
      { kind: "docker", image: "i" },
      { DOCKER_HOST: "tcp://a:1" },
      /invalid.*DOCKER_HOST is not a unix socket/
    ],
    [
      "no image in the configuration, unless that of this version was built",
      { kind: "podman" },
      undefined,
      /missing.*image aicr-agents:\d+\.\d+\.\d+ does not exist.*docker build -t aicr-agents:\S+ -f deploy\/agents\/Dockerfile/
    ],
    [
      "an image that does not exist",
      { kind: "podman", image: "localhost/none:1" },
      undefined,
      /missing.*localhost\/none:1.*cannot be pulled/
    ],
    ["an engine that is ambiguous", { kind: "podman", engine: "docker", image: "i" }, undefined, /invalid.*contradicts/]
  ])("is refused with %s, and nothing weaker runs", async (_, config, env, message) => {
    const refused = await run(fixture, kind(config, env), "echo started").catch((error: unknown) => error)
    expect(refused instanceof SandboxError ? `${refused.reason}: ${refused.message}` : refused).toMatch(message)
    expect(listOrphans(fixture)).toEqual([])
  })

  it("is refused when the engine does not respond", async () => {
    const socket = join(fixture.root, "dead.sock")
    const server = createServer((client) => client.destroy()).listen(socket)
    await once(server, "listening")
    const refused = run(fixture, kind({ kind: "docker", image: "i" }, { DOCKER_HOST: socket }), "echo started")
    await expect(refused).rejects.toThrow(/does not respond at .*dead.sock/)
    server.close()
  })

  const selected = Effect.flatMap(Sandboxes, ({ select }) =>
    select(resolveConfig({ image: podman.image, engine: "auto" }))
  )
  const absent = (name: "podman" | "docker") => ({
    ...makeDrivers(environment())[name],
    problem: () => Effect.succeed(new SandboxError({ reason: "missing", why: verbatimReason(`no ${name}`) }))
  })
  it.each([
    ["podman", []],
    ["docker", ["podman"]],
    ["native", ["podman", "docker"]]
  ] as const)("is selected automatically: %s", async (expected, missing) => {
    const own = makeDrivers({ ...environment(), PATH: process.env["PATH"] })
    const drivers = { ...own, ...Object.fromEntries(missing.map((name) => [name, absent(name)])) }
    expect(await using(fixture, { config: {}, drivers }, selected)).toBe(expected)
  })

  it.each([
    ["without a socket", () => ({ CONTAINER_HOST: "/no/such" })],
    ["that does not respond", (dead: string) => ({ CONTAINER_HOST: `unix://${dead}` })]
  ])("is not replaced by native, if CONTAINER_HOST names an engine %s", async (_, env) => {
    const socket = join(fixture.root, "named.sock")
    const server = createServer((client) => client.destroy()).listen(socket)
    await once(server, "listening")
    const kinds = kind({}, { ...environment(), PATH: process.env["PATH"], ...env(socket) })
    const refused = await using(fixture, kinds, selected).catch((error: unknown) => error)
    server.close()
    expect(refused).toMatchObject({ reason: "failed", message: expect.stringMatching(/\/(no\/such|.*named\.sock)/) })
  })
})
