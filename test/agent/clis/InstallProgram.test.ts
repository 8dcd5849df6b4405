/** A folder that cannot be created or written ends an installation immediately, before npm is called. */
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { expect, it, vi } from "vitest"
import { installProgram } from "../../../src/agent/clis/InstallProgram.ts"
import { installAgent } from "../../../src/app/AgentSetup.ts"
import { temporaryFolder } from "../../vcs/Repository.ts"

const advice = "Name a folder that this user can create and write in SVC_AGENTS_DIR or --dir"

it("fails for a folder below /proc that SVC_AGENTS_DIR names, and for one that is a file", async () => {
  vi.stubEnv("SVC_AGENTS_DIR", "/proc/aicr-none/agents")
  const missing = join(temporaryFolder(), "config.yaml")
  const error = await Effect.runPromise(Effect.flip(installAgent(missing, "codex", undefined)))
  expect(String(error.message)).toBe(
    `cannot write to the folder /proc/aicr-none/agents: ENOENT: no such file or directory, mkdir '/proc/aicr-none'. ${advice}`
  )
  const file = join(temporaryFolder(), "file")
  writeFileSync(file, "")
  const refused = await Effect.runPromise(Effect.flip(installProgram("codex", file)))
  expect(refused).toMatchObject({ reason: "failed", message: expect.stringContaining(`folder ${file}: ENOTDIR`) })
})

it("creates a folder that others may read", async () => {
  vi.stubEnv("PATH", "/nowhere")
  const open = join(temporaryFolder(), "open")
  mkdirSync(open, { mode: 0o755 })
  const root = join(open, "opt", "agents")
  const error = await Effect.runPromise(Effect.flip(installProgram("codex", root)))
  expect(error.message).toContain(`could not be installed in ${root}: Error: spawn npm ENOENT`)
  expect([join(open, "opt"), root].map((path) => statSync(path).mode & 0o777)).toEqual([0o755, 0o755])
})
