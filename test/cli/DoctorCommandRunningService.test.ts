/** Reports of `aicr doctor` about a service on this machine, and about another program on its port. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { reportService } from "../../src/cli/DoctorCommand.ts"
import { freePort } from "../harness/FreePort.ts"
import { startReadyz } from "./Readyz.ts"
import { inEnglish } from "../../src/text/en.ts"

const report = (port: number, hostname = "0.0.0.0") => Effect.runPromise(reportService({ hostname, port }))

it.each<[body: unknown, expected: ReadonlyArray<string>]>([
  [{ status: "ready", nodes: [] }, ["ok the service on port N is ready"]],
  [{ status: "starting", not_ready: ["nats"] }, ["warning the service on port N waits for its servers: nats"]],
  [
    { status: "not_ready", not_ready: ["store"] },
    ["error the service on port N is not ready: store; its log has the error"]
  ],
  [{ status: "of another program" }, []],
  ["no object", []]
])("%j", async (body, expected) => {
  await using service = await startReadyz(body)
  const reports = await report(service.port)
  expect(
    reports.map(({ level, reason }) => `${level} ${inEnglish(reason).replace(String(service.port), "N")}`)
  ).toEqual(expected)
})

it("nothing is reported if no service runs, or its address is another one", async () => {
  expect(await report(await freePort())).toEqual([])
  await using service = await startReadyz({ status: "ready" })
  expect(await report(service.port, "127.0.0.1")).toHaveLength(1)
  expect(await report(service.port, "::1")).toEqual([])
})
