/**
 * The service in a virtual machine: a line of its input is a request, a line of its output the response. With arguments it is the service
 * that is killed. In the environment is the image of its engine, if it has one, and who manages the control groups of containers.
 */
import { createInterface } from "node:readline"
import { makeDrivers } from "../../src/sandbox/drivers/SandboxKinds.ts"
import { startPodman } from "../harness/Podman.ts"
import type { Podman } from "../harness/Podman.ts"
import type { ServiceRequest } from "./Elsewhere.ts"
import { listOrphans, makeFixture, processesWith, run } from "./Fixture.ts"
import type { Fixture } from "./Fixture.ts"
import { killedService, startFrom } from "./KilledService.ts"

const [, file = "", ...job] = process.argv

const serve = async (): Promise<void> => {
  const fixture = await makeFixture()
  const { AICR_TEST_IMAGE: imageFile, AICR_TEST_MANAGER: manager } = process.env
  const podman =
    imageFile === undefined ? undefined : await startPodman({ imageFile, manager, runtime: "crun", storage: "overlay" })
  for await (const line of createInterface(process.stdin)) {
    const response = await respond(fixture, podman, JSON.parse(line)).then(
      (value) => ({ value }),
      (error: unknown) => ({ failed: String(error) })
    )
    process.stdout.write(`${JSON.stringify(response)}\n`)
  }
}

const respond = async (fixture: Fixture, podman: Podman | undefined, request: ServiceRequest): Promise<unknown> => {
  const environment = podman === undefined ? {} : { CONTAINER_HOST: `unix://${podman.socket}` }
  switch (request.make) {
    case "run": {
      const kind = { ...request.kind, drivers: makeDrivers({ ...process.env, ...environment }) }
      return run(fixture, kind, request.program, request.limits)
    }
    case "kill":
      return killedService(fixture, { ...request.kind, environment }, request.script, { file })
    case "look":
      return {
        processes: processesWith(request.text).length,
        folders: listOrphans(fixture).length,
        containers: podman === undefined ? 0 : podman.run("ps", "--all", "--quiet").split("\n").length - 1
      }
  }
}

if (job.length > 0) await startFrom(job)
else await serve()
