/**
 * Content of workspaces.root in the real service: further repositories are read, and the cache keeps its limit, even
 * after kill -9.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { honest, Installation } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const make = async (): Promise<Installation> => {
  const at = await Installation.make({ queue: "sqlite", repositories: ["team/one", "team/two"] })
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  // About a kilobyte: whatever is not in use goes.
  document.workspaces.cache = { max_total_gb: 0.000001 }
  const url = `${at.forge.url}/team/two.git`
  document.workspaces.instances["team-one"].context_repositories = [
    { alias: "two", kind: "git", url, token_env: "TEST_TOKEN_0" },
    { alias: "gone", kind: "git", url, ref: "no-such-branch", token_env: "TEST_TOKEN_0" }
  ]
  writeFileSync(file, stringify(document))
  return at
}

/** Mirrors, without their hash: `team-one`, `context`. */
const kept = (at: Installation): ReadonlyArray<string> => readdirSync(join(at.directory, "workspaces", "mirrors"))
const marks = (at: Installation): ReadonlyArray<string> =>
  kept(at).flatMap((name) => readdirSync(join(at.directory, "workspaces", "mirrors", name, "users")))

it("a review reads further repositories, is killed, and is done after the restart while the cache is swept", async () => {
  await using at = await make()
  await at.aicr.start()
  const killed = Promise.withResolvers<void>()
  at.model.script(() => {
    killed.resolve()
    return { cut: true }
  })
  const pull = await at.open("change")
  await at.forge.notify(pull, "opened")
  await killed.promise
  await at.aicr.kill()
  // Both repositories were in use, and no process could remove the marks.
  expect(kept(at)).toHaveLength(2)
  const left = marks(at)
  expect(left).toHaveLength(2)

  at.model.script(honest)
  await at.aicr.start()
  await at.reviewed(pull)
  expect(at.posted(pull).comments).toEqual(["src/change.ts:2"])
  const asked = at.model.requests.at(-1)?.text ?? ""
  expect(asked).toContain("as `alias:path`: two.")
  const [summary] = pull.comments
  expect(summary?.body).toContain("The context repository gone was not read: no branch or tag named no-such-branch.")
  await at.settled()

  await at.aicr.stop()
  expect(marks(at).filter((mark) => !left.includes(mark))).toEqual([])
  await at.aicr.start()
  // The folders are removed first; the metrics and the log follow.
  const metrics = async (): Promise<string> => (await fetch(`${at.aicr.url}/metrics`)).text()
  const said = [
    /aicr_workspace_cache_bytes\S* 0\b/,
    /aicr_workspace_cache_evictions_total\{[^}]*policy="lru"[^}]*\} [1-9]/
  ]
  await waitUntil(
    async () => {
      const text = await metrics()
      return said.every((line) => line.test(text)) && /team-one-[0-9a-f]{16}\.git.*mirror evicted/.test(at.aicr.log)
    },
    { describe: () => `${kept(at).join()}\n${at.aicr.log}` }
  )
  expect(kept(at)).toEqual([])
  expect(at.aicr.log).not.toContain("t0ken-of-the-reviewer-0")
}, 120_000)
