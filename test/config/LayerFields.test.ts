/** Fields that once had no effect in a layer, on a kind, or from another folder: each has the documented effect, or a warning. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { fileFilters } from "../../actors/review/FileFilters.ts"
import { isIgnoredLabel } from "../../src/admission/IgnoredLabel.ts"
import { diff } from "../../src/config/Diff.ts"
import { readDocument } from "../../src/config/snapshots/Snapshots.ts"
import type { Change } from "../../src/domain/Change.ts"
import { dispatcher } from "../../src/forge/http/Profile.ts"
import { providerSettings } from "../../src/llm/providers/ProviderSettings.ts"
import { selectFiles } from "../../src/review/SelectFiles.ts"
import { workspaceTemplates } from "../../src/outputs/text/WorkspaceTemplates.ts"

const read = (tree: unknown, env: Record<string, string> = {}, baseDir = "/base") => {
  const { snapshot, issues } = readDocument(tree, env, { baseDir, unset: "warnings" })
  if (snapshot === undefined) throw new Error(JSON.stringify(issues))
  return { snapshot, issues }
}
const change = (over: Partial<Change> = {}): Change => ({
  provider: "github",
  trigger: "hub",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number: 1 },
  headRef: "feature",
  baseRef: "main",
  ...over
})
const hub = { name: "hub", kind: "github" }

describe("which files a trigger lets through", () => {
  const scheduled = { name: "nightly", kind: "scheduled", cron: "0 3 * * *", repositories: [{ repo: "team/app" }] }
  const byHost = change({ trigger: "nightly", host: "hub" })
  it.each([
    [
      "the change's own",
      { watch_path: ["docs"], include_cr_file: ["**/*.{md,txt}"], exclude_cr_file: ["**/*.txt"] },
      "docs/a.md"
    ],
    ["the host's where it names none", {}, "src/a.ts"]
  ])("%s, for scheduled changes", (_, own, expected) => {
    const host = { ...hub, watch_path: ["src"], include_cr_file: ["**/*.ts"], exclude_cr_file: ["**/*.gen.ts"] }
    const { snapshot } = read({ triggers: [host, { ...scheduled, ...own }] })
    const { candidates } = selectFiles({
      review: snapshot.document.review,
      filters: fileFilters(snapshot, byHost),
      ignoredBy: () => undefined
    })
    const paths = ["docs", "src"].flatMap((folder) =>
      ["a.gen.ts", "a.md", "a.ts", "a.txt"].map((name) => `${folder}/${name}`)
    )
    const listed = paths.map((path) => ({ path, status: "modified" as const, oldMode: "100644", newMode: "100644" }))
    expect(candidates(listed).map(({ path }) => path)).toEqual([expected])
  })
})

it("labels are ignored without regard to case", () => {
  const { snapshot } = read({
    triggers: [hub],
    review: { labels: { ignore: ["Skip-Me"] } },
    workspaces: { instances: { w: { source_repo: { trigger: "hub", repo: "team/app" } } } }
  })
  const review = snapshot.workspaces.get("w")?.review
  expect(["skip-me", "SKIP-ME", "skip"].map((label) => review && isIgnoredLabel(review, label))).toEqual([
    true,
    true,
    false
  ])
})

describe("relative paths start at the document", () => {
  it("of a trigger's authorities and an app's key", async () => {
    const folder = await mkdtemp(join(tmpdir(), "aicr-paths-"))
    await mkdir(join(folder, "certs"))
    await writeFile(join(folder, "certs", "ca.pem"), "")
    const triggers = [{ ...hub, tls_ca_path: "certs/ca.pem", app: { app_id: 1, private_key_path: "certs/app.pem" } }]
    const profile = read({ triggers }, {}, folder).snapshot.triggers.get("hub")
    expect(profile?.settings.tls_ca_path).toBe(join(folder, "certs", "ca.pem"))
    expect(profile?.settings.app?.private_key_path).toBe(join(folder, "certs", "app.pem"))
    if (profile === undefined) throw new Error("no profile")
    expect(await Effect.runPromise(dispatcher(profile))).toBeDefined()
    await rm(folder, { recursive: true })
  })
  it.each([
    ["key.json", "/base/key.json"],
    ["/etc/key.json", "/etc/key.json"],
    ['{"type":"service_account"}', '{"type":"service_account"}']
  ])("of Google credentials: %s", (given, expected) => {
    for (const [field, env] of [
      ["google_application_credentials", {}],
      ["google_application_credentials_env", { KEY: given }]
    ] as const) {
      const value = field.endsWith("_env") ? "KEY" : given
      const { snapshot } = read({ llm: { providers: [{ id: "v", kind: "vertex_ai", [field]: value }] } }, env)
      const [provider] = snapshot.document.llm.providers
      if (provider === undefined) throw new Error("no provider")
      const held = providerSettings(provider, snapshot).credentials.google_application_credentials
      expect(held === undefined ? undefined : Redacted.value(held)).toBe(expected)
    }
  })
})

it("work_path selects the directory of a workspace's templates, by the facts of match rules", async () => {
  const root = await mkdtemp(join(tmpdir(), "aicr-work-"))
  const { snapshot } = read({
    triggers: [hub],
    workspaces: {
      root,
      instances: {
        w: {
          match: [{ id: "all", triggers: ["hub"] }],
          work_path: "{{workspace.id}}/{{segment source.project_key}}/{{segment source.branch}}"
        }
      }
    }
  })
  await mkdir(join(root, "w/77/main/templates"), { recursive: true })
  await writeFile(join(root, "w/77/main/templates/review.summary.md.hbs"), "own")
  const workspace = snapshot.workspaces.get("w")
  if (workspace === undefined) throw new Error("no workspace")
  const on = (branch: string) =>
    workspaceTemplates(
      snapshot,
      workspace,
      change({ repo: { fullName: "team/app", hostId: 77 }, baseRef: branch }),
      "review"
    )
  expect([on("main").summary, on("next").summary]).toEqual(["own", undefined])
  await rm(root, { recursive: true })
})

it("match rules with an id are compared by it: moving one is no difference, and a change names it", () => {
  const documentWith = (...match: ReadonlyArray<object>) =>
    read({ triggers: [hub], workspaces: { instances: { w: { match } } } }).snapshot.document
  const main = { id: "main", source: { branch: { exact: "main" } } }
  const all = { id: "all", triggers: ["hub"] }
  expect(diff(documentWith(main, all), documentWith(all, main))).toEqual([])
  const next = { ...main, source: { branch: { exact: "next" } } }
  expect(diff(documentWith(main, all), documentWith(all, next)).map(({ path }) => path)).toEqual([
    "workspaces.instances.w.match.main.source.branch.exact"
  ])
})

it("excluded sources are compared by their id: moving one is no difference, and a change names it", () => {
  const documentWith = (...exclude_sources: ReadonlyArray<object>) =>
    read({ review: { auto_commit: { exclude_sources } } }).snapshot.document
  const bots = { id: "bots", match: { author: { glob: "*bot" } } }
  const ci = { id: "ci", match: { author: { glob: "ci*" } } }
  expect(diff(documentWith(bots, ci), documentWith(ci, bots))).toEqual([])
  const other = { ...bots, match: { author: { glob: "*robot" } } }
  expect(diff(documentWith(bots, ci), documentWith(ci, other)).map(({ path }) => path)).toEqual([
    "review.auto_commit.exclude_sources.bots.match.author.glob"
  ])
})

describe("a field without effect is reported at its path", () => {
  it.each([
    [
      "a revision's link on git",
      { triggers: [{ ...hub, revision_url_template: "https://r/{{rev}}" }] },
      "triggers[0].revision_url_template"
    ],
    [
      "a changelist's link on git",
      { triggers: [{ ...hub, change_url_template: "https://r/{{rev}}" }] },
      "triggers[0].change_url_template"
    ],
    [
      "a commit's link on Perforce",
      { triggers: [{ name: "d", kind: "perforce", commit_url_template: "https://r/{{rev}}" }] },
      "triggers[0].commit_url_template"
    ],
    ...["revision_url_template", "change_url_template"].flatMap((field) =>
      ["gitea_pr_review", "gitlab_problem_issue"].map((kind): [string, object, string] => [
        `${field} on ${kind}`,
        { outputs: { channels: [{ name: "c", kind, [field]: "https://r/{{rev}}" }] } },
        `outputs.channels[0].${field}`
      ])
    ),
    [
      "a changelist's link on a channel of the defaults",
      {
        workspaces: {
          defaults: {
            outputs: { channels: [{ name: "c", kind: "gitea_issue", change_url_template: "https://r/{{rev}}" }] }
          }
        }
      },
      "workspaces.defaults.outputs.channels[0].change_url_template"
    ],
    [
      "a route for commits",
      { outputs: { routes: { rules: [{ match: { target_kind: "commit" } }] } } },
      "outputs.routes.rules[0].match.target_kind"
    ]
  ])("%s", (_, tree, path) => {
    const { issues } = read({ triggers: [hub], ...tree })
    expect(issues.filter((issue) => issue.path === path).map(({ severity }) => severity)).toEqual(["warning"])
  })
  it("a route for shelved changelists of Perforce is not reported", () => {
    const routes = { rules: [{ match: { target_kind: "commit" } }] }
    const triggers = [hub, { name: "depot", kind: "perforce", port: "p4:1666" }]
    const { issues } = read({ triggers, outputs: { routes } })
    expect(issues.filter(({ path }) => path.startsWith("outputs"))).toEqual([])
  })
  it("a link that a kind uses, and a limit for waiting work, are not reported", () => {
    const revision_url_template = "https://r/{{rev}}"
    const channels = [
      { name: "depot", kind: "github_problem_issue", trigger: "hub", owner: "a", repo: "b", revision_url_template },
      { name: "chat", kind: "feishu_bot", webhook_url: "https://hook.test", revision_url_template }
    ]
    const triggers = [
      { ...hub, webhook_secret: "s", commit_url_template: "https://c/{{sha}}" },
      { name: "n", kind: "manual", revision_url_template }
    ]
    const review = { auto_commit: { queued_timeout_hours: 1 } }
    const source_repo = { trigger: "hub", repo: "team/app" }
    const workspaces = { defaults: { review }, instances: { w: { source_repo, review } } }
    const server = { auth: { api_key: "k" } }
    expect(read({ server, triggers, outputs: { channels }, review, workspaces }).issues).toEqual([])
  })
})

it.each([
  ["wecom_app", "all", ["error"]],
  ["wecom_app", "skip", []],
  ["feishu_app", "all", []]
])("mention_fallback of kind %s and value %s", (kind, mention_fallback, expected) => {
  const channel = { name: "c", kind, mention_fallback }
  const { issues } = readDocument({ outputs: { channels: [channel] } }, {}, { baseDir: "/base", unset: "warnings" })
  const at = issues.filter(({ path }) => path === "outputs.channels[0].mention_fallback")
  expect(at.map(({ severity }) => severity)).toEqual(expected)
})

it("a field without effect gives one warning, at its position", () => {
  const { issues } = read({ im: { command_bindings: { draft: { report_policy: "workspace_routes" } } } })
  expect(issues.map(({ severity, path }) => [severity, path])).toEqual([
    ["warning", "im.command_bindings.draft.report_policy"]
  ])
})
