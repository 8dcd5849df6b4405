/** Fields of channels of managed issues: each changes what arrives at a host. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { file, repoName, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { analysis, finding } from "./Fixtures.ts"
import { documentFor, only, publisher } from "./FromDocument.ts"

const at = (n: number) => finding(n, { file, severity: "high" }, { path: file, side: "new", line: 20 })
/** A review that found nothing, and that the file no longer has the code of earlier problems. */
const resolving = { analysis: analysis([], { checked: [{ file, state: "gone" }] }), head: "b".repeat(40) }

describe("managed issues", () => {
  let tea: Host
  let lab: Host
  beforeAll(async () => {
    ;[tea, lab] = await Promise.all([startHost("gitea"), startHost("gitlab")])
    await Promise.all([tea, lab].map(({ forge }) => forge.createRepository("team/mirror")))
    const owners = { OWNERS: "* @mallory\n", ".owners": "* @olga\n" }
    await tea.forge.push(repoName, { branch: "main", message: "owners", files: owners })
  })
  afterEach(() => {
    for (const { forge } of [tea, lab]) {
      forge.expectContract()
      for (const name of [repoName, "team/mirror"]) forge.issues(name).issues.splice(0)
    }
  })
  afterAll(async () => {
    await Promise.all([tea.forge.stop(), lab.forge.stop()])
  })

  const own = { kind: "gitea_problem_issue", assign_committer: false }
  const issues = (host = tea, name = repoName) => host.forge.issues(name).issues
  const raise = (channel: object, count = 1) =>
    publisher(tea, documentFor(tea, only({ ...own, ...channel })))(Array.from({ length: count }, (_, n) => at(n + 1)))

  it("have no assignee where assign_committer is false", async () => {
    await raise({})
    expect(issues().map(({ assignees }) => assignees)).toEqual([[]])
    await publisher(tea, documentFor(tea, only({ kind: own.kind }, "other")))([at(1)])
    expect(issues().at(-1)?.assignees).toEqual(["dana"])
  })

  it("are assigned to the owners that owners_file names, with add_owners_as_assignees", async () => {
    await raise({ add_owners_as_assignees: true, owners_file: ".owners" })
    expect(issues()[0]?.assignees).toEqual(["olga"])
  })

  it("have the labels of label_ids", async () => {
    await raise({ label_ids: [4711] })
    expect(issues()[0]?.labels).toEqual(["#4711"])
  })

  it("have a label of severity_label_prefix in the colour of severity_label_colors", async () => {
    await raise({ severity_label_prefix: "aicr/", severity_label_colors: { high: "#123456" } })
    expect(issues()[0]?.labels).toEqual(["aicr/high"])
    expect(tea.forge.issues(repoName).labels.get("aicr/high")?.color).toBe("123456")
  })

  it("have titles that begin with marker_prefix", async () => {
    await raise({ marker_prefix: "[bot]" })
    expect(issues()[0]?.title).toBe(`[bot] Title 1 (${file})`)
  })

  it("belong to every channel of one marker_label", async () => {
    await raise({ marker_label: "shared" })
    const renamed = only({ ...own, marker_label: "shared" }, "renamed")
    await publisher(tea, documentFor(tea, renamed))([], resolving)
    expect(issues().map(({ state }) => state)).toEqual(["closed"])
  })

  it("stay open where resolved_action is none", async () => {
    const publish = publisher(tea, documentFor(tea, only({ ...own, resolved_action: "none" })))
    await publish([at(1)])
    await publish([], resolving)
    expect(issues().map(({ state }) => state)).toEqual(["open"])
  })

  it("are one for all problems where issue_mode is consolidated", async () => {
    await raise({ issue_mode: "consolidated" }, 2)
    expect(issues()).toHaveLength(1)
  })

  it("are those of the repository that owner and repo name", async () => {
    await tea.forge.createRepository("elsewhere/found")
    await raise({ owner: "elsewhere", repo: "found" })
    expect([issues().length, issues(tea, "elsewhere/found").length]).toEqual([0, 1])
  })

  it("have the labels, and are in the project, that a channel of GitLab names", async () => {
    const channel = {
      kind: "gitlab_problem_issue",
      assign_committer: false,
      labels: ["review"],
      project_id: "team/mirror"
    }
    await publisher(lab, documentFor(lab, only(channel)))([at(1)])
    expect(issues(lab)).toEqual([])
    expect(issues(lab, "team/mirror").map(({ labels }) => labels)).toEqual([["review"]])
  })
})
