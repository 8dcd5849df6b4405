/**
 * Agent CLIs for tests: installed from npm once per machine, into a cache folder outside of the repository. Suites run concurrently, so
 * installations are serialised.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { CliMode } from "../../src/agent/clis/AgentPrograms.ts"
import { installProgram } from "../../src/agent/clis/InstallProgram.ts"
import { cliModes } from "../../src/agent/clis/CliTable.ts"
import { readVersion } from "../../src/agent/clis/ProgramFolder.ts"
import { findCli } from "../../src/agent/clis/CliTable.ts"

export const agentFolder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "aicr-test-agents")

const isInstalled = async (mode: CliMode): Promise<boolean> =>
  (await Effect.runPromise(readVersion(agentFolder, mode))) === findCli(mode).tested

/** Installs a CLI if the cache has no tested version of it. */
export const provideCli = async (mode: CliMode): Promise<void> => {
  if (await isInstalled(mode)) return
  mkdirSync(agentFolder, { recursive: true })
  execFileSync("flock", [join(agentFolder, "lock"), process.execPath, import.meta.filename, mode], {
    stdio: ["ignore", "ignore", "pipe"]
  })
}

if (import.meta.main) {
  const mode = cliModes.find((name) => name === process.argv[2])
  if (mode !== undefined && !(await isInstalled(mode))) await Effect.runPromise(installProgram(mode, agentFolder))
}
