/** `aicr replay` as an operator runs it: next to the running service, on its records. */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { runAicr } from "../harness/RunAicr.ts"

let installation: Installation
let run = ""

const aicr = async (...args: ReadonlyArray<string>) => {
  const { code, err, out } = await runAicr(args, { env: { TEST_KEY: "key-of-the-model" } })
  return { code, out: out + err }
}
const config = () => join(installation.directory, "config.yaml")

beforeAll(async () => {
  installation = await Installation.make({ queue: "sqlite" })
  await installation.aicr.start()
  const pull = await installation.open("replayed")
  await installation.forge.notify(pull, "opened")
  await installation.reviewed(pull)
  await waitUntil(() => installation.unfinished().length === 0, { describe: () => installation.aicr.log })
  const database = new DatabaseSync(join(installation.directory, "aicr.db"), { readOnly: true })
  run = String(database.prepare("SELECT id FROM runs").get()?.["id"])
  database.close()
})
afterAll(() => installation[Symbol.asyncDispose]())

describe("aicr replay", () => {
  it("finds what the service found, states the same, and calls no model", async () => {
    const asked = installation.model.requests.length
    const { code, out } = await aicr("replay", run, "--config", config())
    expect(out).toContain("1 recorded responses: 1 to the same requests, 0 to changed ones; 0 requests had none")
    expect(out).toContain("No difference: 1 finding, as then.")
    expect(out).toContain("The statement is the statement of its record, byte by byte.")
    expect(code).toBe(0)
    expect(installation.model.requests.length).toBe(asked)
  })

  it("shows the effect of another configuration on the same responses", async () => {
    const other = join(installation.directory, "other.yaml")
    writeFileSync(
      other,
      readFileSync(config(), "utf8").replace("verification: off", "verification: off\n  min_severity: critical")
    )
    expect((await aicr("replay", run, "--config", other)).out).toContain("No difference: 1 finding, as then.")
    const { code, out } = await aicr("replay", run, "--config", other, "--current", "--json")
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      configuration: "changed",
      findings: { gone: [{ title: "Problem of replayed", severity: "high" }], same: [], added: [] },
      statement: {
        same: false,
        signed: false,
        differences: ["predicate.inputs.configuration.sha256", "predicate.findings"]
      }
    })
  })

  it("calls the model that is named", async () => {
    const asked = installation.model.requests.length
    const { out } = await aicr("replay", run, "--config", config(), "--model", "fake/fake")
    expect(out).toContain("No difference: 1 finding, as then.")
    expect(installation.model.requests.length).toBe(asked + 1)
  })

  it.each([
    [["replay", "0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90"], "run 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90 not found"],
    [["replay", "RUN", "--model", "nobody/m"], "unknown provider nobody; llm.providers has fake"]
  ])("%j is refused with a reason", async (args, message) => {
    const { code, out } = await aicr(...args.map((arg) => (arg === "RUN" ? run : arg)), "--config", config())
    expect(out).toContain(message)
    expect(code).toBe(2)
  })

  it("explains that a configuration is gone, and that calls of agent CLIs cannot be repeated", async () => {
    const database = new DatabaseSync(join(installation.directory, "aicr.db"))
    database.prepare("UPDATE runs SET config_hash = 'gone'").run()
    database.close()
    const gone = await aicr("replay", run, "--config", config())
    expect(gone.out).toContain(`the configuration of run ${run} is no longer stored; --current replays it`)
    expect(gone.code).toBe(2)
    const other = join(installation.directory, "codex.yaml")
    writeFileSync(other, readFileSync(config(), "utf8").replace("native-llm", "codex"))
    const { code, out } = await aicr("replay", run, "--config", other, "--current")
    expect(out).toContain(`run ${run} was made with the agent CLI codex, whose calls cannot be repeated. With --model`)
    expect(code).toBe(2)
  })

  it("reports that the evidence is gone", async () => {
    rmSync(join(installation.directory, "objects", "runs", run), { recursive: true })
    const { code, out } = await aicr("replay", run, "--config", config(), "--current")
    expect(out).toContain(`the evidence of run ${run} is not there`)
    expect(code).toBe(2)
  })
})
