/** The real process whose configuration uses agent CLIs that are not installed. */
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { Installation } from "../harness/Installation.ts"
import { provide } from "../harness/Provide.ts"
import { waitUntil } from "../harness/Wait.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const text = "agent CLI missing, reviews of its workspaces fail"

it("warns once for each mode when it starts, and when a configuration adds one", async () => {
  await using at = await Installation.make({
    queue: "memory",
    repositories: ["team/one", "team/two"],
    agent: { default: "codex" },
    env: { SVC_AGENTS_DIR: temporaryFolder(), PATH: `${provide("bubblewrap")}:${process.env["PATH"] ?? ""}` }
  })
  const warnings = () =>
    at.aicr.log
      .split("\n")
      .filter((line) => line.includes(text))
      .map((line) => JSON.parse(line))
  const wait = (count: number) =>
    waitUntil(() => warnings().length === count, { describe: () => `${count} warnings\n${at.aicr.log}` })
  await at.aicr.start()
  await wait(1)
  expect(warnings()[0]).toMatchObject({
    level: "warn",
    mode: "codex",
    workspaces: ["team-one", "team-two"],
    reason: expect.stringMatching(/is not installed in .*; run aicr agent install codex$/)
  })
  const file = join(at.directory, "config.yaml")
  const document = parse(await readFile(file, "utf8"))
  document.workspaces.instances["team-two"].agent = { default: "pi" }
  await writeFile(file, stringify(document))
  await wait(2)
  expect(warnings()[1]).toMatchObject({ mode: "pi", workspaces: ["team-two"] })
  await at.aicr.stop()
  expect(warnings()).toHaveLength(2)
}, 120_000)
