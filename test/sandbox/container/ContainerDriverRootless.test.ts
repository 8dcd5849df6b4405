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

/** Passes the API on, as that of an engine with control groups of another version. */
const claim = async (engine: string, socket: string, version: string): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const service = connect({ path: engine, allowHalfOpen: true })
    for (const side of [client, service]) side.on("error", () => [client, service].map((other) => other.destroy()))
    client.pipe(service)
    service
      .on("data", (chunk: Buffer) =>
        client.write(chunk.toString("latin1").replace(/"CgroupVersion":"\d"/, `"CgroupVersion":"${version}"`), "latin1")
      )
      .on("end", () => client.end())
  })
  return new Promise((done) => server.listen(socket, () => done(server)))
}

// Without root, podman gives no group to a container where each controller has a hierarchy of its own. What else it holds is shown there.
describe.runIf(mayDelegate)("podman without root", () => {
  let podman: Podman
  const servers: Array<Server> = []
  const kindOf = async (name: "podman" | "docker", version: string): Promise<Conformance> => {
    const socket = `${podman.socket}.${servers.length}`
    servers.push(await claim(podman.socket, socket, version))
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
    ["kind podman", () => kindOf("podman", "2")],
    ["kind docker", () => kindOf("docker", "2")]
  ])

  it("is refused where it would ignore the limits", async () => {
    const fixture = await makeFixture()
    const refused = run(fixture, await kindOf("podman", "1"), "echo started")
    await expect(refused).rejects.toThrow(
      /cannot limit memory, processors and processes.*use control groups of version 2/
    )
    await fixture.close()
  })
})
