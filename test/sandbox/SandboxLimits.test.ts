/** Limits of a pass, as the configuration sets them. */
import { expect, it } from "vitest"
import { toSandboxLimits } from "../../src/sandbox/SandboxLimits.ts"
import { testWorkspace } from "../harness/TestSnapshot.ts"

const byDefault = {
  memoryBytes: 2_147_483_648,
  cpus: 2,
  processes: 512,
  fileBytes: 536_870_912,
  outputBytes: 67_108_864,
  timeMillis: 1_800_000
}

it.each([
  ["nothing", {}, {}],
  ["memory_mb", { sandbox: { limits: { memory_mb: 100 } } }, { memoryBytes: 104_857_600 }],
  ["cpus", { sandbox: { limits: { cpus: 0.5 } } }, { cpus: 0.5 }],
  ["processes", { sandbox: { limits: { processes: 40 } } }, { processes: 40 }],
  ["file_mb", { sandbox: { limits: { file_mb: 3 } } }, { fileBytes: 3_145_728 }],
  ["output_mb", { sandbox: { limits: { output_mb: 2 } } }, { outputBytes: 2_097_152 }],
  ["timeout_seconds", { timeout_seconds: 7 }, { timeMillis: 7000 }]
])("%s", (_, agent, changed) =>
  expect(toSandboxLimits(testWorkspace({ agent }).agent)).toEqual({ ...byDefault, ...changed })
)
