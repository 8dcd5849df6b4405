/** Problems of channels and templates that are reported before anything is published. */
import { describe, expect, it } from "vitest"
import { channelProblems } from "../../../src/outputs/channels/ChannelProblems.ts"
import { templateProblems } from "../../../src/outputs/SampleRender.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { workspace } from "../Fixtures.ts"
import { inEnglish } from "../../../src/text/en.ts"

const snapshotWith = (outputs: Parameters<typeof workspace>[0]) => {
  const one = workspace(outputs)
  return {
    ...testSnapshot({}),
    workspaces: new Map([
      ["a", one],
      ["b", one]
    ])
  }
}

describe("channel problems", () => {
  it("names verdicts that the host has not, once", () => {
    const channels = [
      { name: "app", kind: "feishu_app", connection: "c", receive_id: "g" },
      { name: "strict", kind: "gitlab_mr_review", review_event: "REQUEST_CHANGES" },
      { name: "fine", kind: "github_pr_review", review_event: "REQUEST_CHANGES" },
      { name: "remarks", kind: "gitlab_mr_review", review_event: "COMMENT" }
    ] as const
    const paths = channelProblems(snapshotWith({ channels })).map(({ path }) => path)
    expect(paths).toEqual(["outputs.channels.strict.review_event"])
  })

  it("names what chat channels have without effect: a template of problems, and mentions without members", () => {
    const common = { connection: "c", receive_id: "g", mention_author: true }
    const channels = [
      { name: "app", kind: "feishu_app", ...common, templates: { problem: "t" } },
      { name: "mapped", kind: "feishu_app", ...common, user_mappings: { dana: "ou_d" } },
      { name: "wecom", kind: "wecom_app", ...common, templates: { problem: "t" } }
    ] as const
    const paths = channelProblems(snapshotWith({ channels })).map(({ path }) => path)
    expect(paths).toEqual([
      "outputs.channels.app.templates.problem",
      "outputs.channels.app.mention_author",
      "outputs.channels.wecom.templates.problem"
    ])
  })

  it("names fields without effect once, with the reason of the kind", () => {
    const channels = [
      { name: "swarm", kind: "p4_swarm", mention_fallback: "skip" },
      { name: "group", kind: "feishu_bot", mention_fallback: "skip" }
    ] as const
    const found = channelProblems(snapshotWith({ channels })).map(({ path, reason }) => `${path}: ${inEnglish(reason)}`)
    expect(found).toEqual([
      "outputs.channels.swarm.mention_fallback: without effect on kind p4_swarm: the user of the changelist is mentioned; remove it",
      "outputs.channels.group.mention_fallback: without effect on kind feishu_bot: without mention_author there are no mentions; remove it"
    ])
  })

  it.each<readonly [field: string, value: object, without: ReadonlyArray<string>]>([
    ["mention_author", { mention_author: true }, ["github_problem_issue", "feishu_bot"]],
    ["mention_fallback", { mention_fallback: "skip", mention_author: true }, ["github_problem_issue", "p4_swarm"]],
    ["no_problems", { no_problems: "skip" }, ["github_problem_issue"]],
    ["templates.summary", { templates: { summary: "t" } }, ["github_problem_issue"]],
    ["templates.problem", { templates: { problem: "t" } }, ["feishu_bot"]]
  ])("warns about %s where it has no effect, and nowhere else", (field, value, without) => {
    const kinds = ["github_pr_review", "github_problem_issue", "p4_swarm", "feishu_bot"] as const
    const channels = kinds.map((kind) => ({ name: kind, kind, ...value }))
    const found = channelProblems(snapshotWith({ templates: { t: "x" }, channels })).map(({ path }) => path)
    expect(found.filter((path) => path.endsWith(`.${field}`))).toEqual(
      without.map((kind) => `outputs.channels.${kind}.${field}`)
    )
  })

  it("tries templates on an example", () => {
    const channels = [
      { name: "r", kind: "gitea_pr_review", templates: { summary: "bad", problem: "good" } },
      { name: "s", kind: "gitea_pr_review", templates: { summary: "bad" } }
    ] as const
    const found = templateProblems(snapshotWith({ templates: { bad: "{{#if}}", good: "{{problem.title}}" }, channels }))
    expect(found.map(({ path }) => path)).toEqual(["outputs.templates.bad"])
  })
})
