/** A folder that cannot be created or written ends an installation immediately, before npm is called. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
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

it("lets other users read an installation that was made with the umask 077", async () => {
  const bin = temporaryFolder()
  // Writes what npm writes with the umask 077, and what must not stay writable for others.
  const npm = [
    "#!/bin/sh",
    "umask 077",
    "chmod 700 .",
    "mkdir -p node_modules/.bin",
    "echo run > node_modules/.bin/codex",
    "chmod 700 node_modules/.bin/codex",
    "echo text > node_modules/readme",
    "chmod 622 node_modules/readme"
  ]
  writeFileSync(join(bin, "npm"), `${npm.join("\n")}\n`)
  chmodSync(join(bin, "npm"), 0o755)
  vi.stubEnv("PATH", `${bin}:/usr/bin:/bin`)
  const root = join(temporaryFolder(), "agents")
  await Effect.runPromise(installProgram("codex", root))
  const modes = ["", "node_modules", "node_modules/.bin/codex", "node_modules/readme", "package.json"].map(
    (name) => statSync(join(root, "codex", name)).mode & 0o777
  )
  expect(modes).toEqual([0o755, 0o755, 0o755, 0o644, 0o644])
  expect(readFileSync(join(root, "codex", "node_modules", "readme"), "utf8")).toBe("text\n")
})
