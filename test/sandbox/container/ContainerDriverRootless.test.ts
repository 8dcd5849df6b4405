/** Containers of a podman without root, whose user the service has as well. */
import { chownSync } from "node:fs"
import { connect, createServer } from "node:net"
import type { Server } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { startPodman } from "../../harness/Podman.ts"
import type { Podman } from "../../harness/Podman.ts"
import { describeCore } from "../Conformance.ts"
import type { Conformance } from "../Conformance.ts"
import { makeFixture, run } from "../Fixture.ts"
import { mayDelegate, otherUser } from "../OtherUser.ts"

/** Passes the API on, as that of an engine whose containers have these controllers. */
const claim = async (engine: string, socket: string, controllers: ReadonlyArray<string>): Promise<Server> => {
  const facts = JSON.stringify({ host: { cgroupControllers: controllers, cgroupManager: "systemd" } })
  const response = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${facts.length}\r\n\r\n${facts}`
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const service = connect({ path: engine, allowHalfOpen: true })
    for (const side of [client, service]) side.on("error", () => [client, service].map((other) => other.destroy()))
    client
      .on("data", (chunk: Buffer) => {
        if (chunk.toString("latin1").startsWith("GET /v4.0.0/libpod/info ")) client.write(response)
        else service.write(chunk)
      })
      .on("end", () => service.end())
    service.pipe(client)
  })
  return new Promise((done) => server.listen(socket, () => done(server)))
}

const all = ["cpu", "memory", "pids"]

// Without root, podman gives no group to a container where each controller has a hierarchy of its own. What else it holds is shown there, and the limits in `ContainerDriverUnified.test.ts`.
describe.runIf(mayDelegate)("podman without root", () => {
  let podman: Podman
  const servers: Array<Server> = []
  const kindOf = async (name: "podman" | "docker", controllers: ReadonlyArray<string>): Promise<Conformance> => {
    const socket = `${podman.socket}.${servers.length}`
    servers.push(await claim(podman.socket, socket, controllers))
    chownSync(socket, otherUser, otherUser)
    const environment = { [name === "podman" ? "CONTAINER_HOST" : "DOCKER_HOST"]: `unix://${socket}` }
    return {
      config: { kind: name, image: podman.image },
      drivers: makeDrivers(environment),
      environment,
      maxShare: 1.2,
      hasOpenProcesses: true,
      user: otherUser,
      uid: 65_534
    }
  }
  beforeAll(async () => {
    podman = await startPodman({ user: otherUser, node: "copy" })
  }, 60_000)
  afterAll(async () => {
    for (const server of servers) server.close()
    await podman.stop()
  })

  describeCore([
    ["kind podman", () => kindOf("podman", all)],
    ["kind docker", () => kindOf("docker", all)]
  ])

  it.each([
    ["of this machine", []],
    ["of a service manager that delegates a part", ["memory", "pids"]]
  ])("is refused where it would ignore limits, with the control groups %s", async (_, controllers) => {
    const fixture = await makeFixture()
    const refused = run(fixture, await kindOf("podman", controllers), "echo started")
    await expect(refused).rejects.toThrow(
      /cannot limit memory, processors and processes.*needs control groups of version 2/
    )
    await fixture.close()
  })
})
