/**
 * A kind of finding that people of a repository rarely accept: from its records to the host, `aicr why` and the page. Nothing is folded before
 * they have judged such findings, and an operator resets what they made of them.
 */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "vitest"
import { adminEnv, AdminSession } from "../harness/AdminSession.ts"
import { review } from "../harness/FakeModel.ts"
import { Installation, listStates, toFilePath } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"
import { command } from "../harness/SharedHeads.ts"

const file = toFilePath("app")
const line = 'export const marked = "marker-one-end"'
const finding = {
  file,
  severity: "medium",
  category: "bug",
  title: "Marker is unclear",
  message: "Wrong.",
  quote: line
}

/** Records findings that a maintainer saw and merged without a repair. */
const recordIgnored = (database: string, repository: string, model: string): void => {
  const sqlite = new DatabaseSync(database)
  const insert = sqlite.prepare(`
    INSERT INTO finding_outcomes (target_key, fingerprint, repository, agent, model, category, severity, path, title, head, outcome, replied,
      settled, settled_at, merged_by, project, found_in, found_at, decided_in, decided_at)
    VALUES (?, ?, ?, 'native-llm', ?, 'bug', 'medium', 'src/a.ts', 'Something else', 'head', 'open_at_merge', 0,
      'merged', ?, 'maintainer', 'project', 'run', ?, 'run', ?)`)
  // Old ones would be removed.
  const now = Date.now()
  for (let at = 0; at < 20; at++)
    insert.run(`${repository}#${1000 + at}`, String(at).padStart(32, "0"), repository, model, now, now, now + at)
  sqlite.close()
}

it("findings that are rarely accepted are folded in the summary", async () => {
  await using at = await Installation.make({
    queue: "memory",
    env: adminEnv,
    review: { status_check: true, status_fail_on: "medium", acceptance_floor: 0.2 }
  })
  at.model.script(() => review([finding], "Adds a marker."))
  await at.aicr.start()
  const open = async (name: string) => {
    await at.forge.push("team/one", {
      branch: name,
      from: "main",
      message: name,
      files: { [file]: `${line}\n// ${name}\n` }
    })
    const pull = await at.forge.createPull("team/one", { headBranch: name, title: name })
    await at.forge.notify(pull, "opened")
    await waitUntil(() => ["success", "failure"].includes(listStates(pull).at(-1) ?? ""), {
      timeout: 60_000,
      describe: () => at.aicr.log
    })
    await at.settled()
    return pull
  }
  const comments = (pull: Awaited<ReturnType<typeof open>>) =>
    pull.reviews.flatMap((one) => one.comments.map(({ body }) => /Marker is unclear/.exec(body)?.[0]))
  expect(comments(await open("first"))).toEqual(["Marker is unclear"])

  const admin = await AdminSession.open(at.aicr.url)
  const run = (await admin.items("/runs?repo=team/one")).find(({ status }) => status === "succeeded")
  const { body } = await admin.get(`/runs/${String(run?.["id"])}`)
  const [model = ""] = body["models"] as ReadonlyArray<string>
  const [project] = await admin.items("/projects?repo=team/one")
  const repository = `${String(project?.["trigger"])}:team/one`
  recordIgnored(join(at.directory, "aicr.db"), repository, model)

  const pull = await open("second")
  expect(comments(pull)).toEqual([])
  const summary = pull.comments.at(-1)?.body ?? ""
  expect(summary).toContain("<summary>Of kinds that are rarely accepted in this repository: 1 medium</summary>")
  expect(summary).toMatch(/^- 🟠 Medium · .*Marker is unclear/m)
  expect(summary).toContain("people accepted 0 of the last 20 in category correctness with severity medium")
  expect((pull.repository.statuses.get(pull.head) ?? []).at(-1)).toMatchObject({ description: "No problems found" })
  const why = await command(at, "why", `team/one#${pull.number}`)
  expect(why).toContain("1 folded finding not posted")
  expect(why).toContain("notice: 1 problem is folded and does not count: people accepted 0 of the last 20")

  // What an operator sees, and resets.
  const workspace = String(run?.["workspace"])
  const read = (id: string) =>
    admin.get(`/acceptance?workspace=${id}&name=${repository.replace("team/one", "Team/One")}`)
  expect((await read(workspace)).body).toEqual({
    floor: 0.2,
    items: [{ category: "correctness", severity: "medium", model, judged: 20, accepted: 0, share: 0.019, folded: true }]
  })
  expect((await read("unknown")).status).toBe(404)
  expect(await command(at, "acceptance", "team/one")).toContain(
    `  folded  medium   correctness: 0 of 20 findings accepted, an estimated 2 % (${model})`
  )
  expect(await command(at, "acceptance", "team/one", "--reset", "--category", "testing")).toBe(
    "0 findings no longer counted.\n"
  )
  expect(await command(at, "acceptance", "team/one", "--reset", "--category", "correctness")).toBe(
    "20 findings no longer counted.\n"
  )
  expect(comments(await open("third"))).toEqual(["Marker is unclear"])
}, 180_000)
