/**
 * Heads that are ignored as drafts, for a label, a branch or a disabled workspace, and those that wait for a window: they are reviewed once
 * when that fact changes while the service is down, at the host or in the configuration. AICR_TEST_CATCH_UP=all tries every host instead of GitLab.
 */
import { expect, it, onTestFinished } from "vitest"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { closedWindow, DownHost } from "../harness/DownHost.ts"
import { isWhole } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const hosts = isWhole("AICR_TEST_CATCH_UP")
  ? (["gitea", "forgejo", "github", "gitlab"] as const)
  : (["gitlab"] as const)

const rules = { labels: { ignore: ["wip"] }, pull_request: { include_target_branches: ["main"] } }
const disabled = { source_repo: { trigger: "host", repo: "team/one" }, enabled: false }

/** Opens one pull request for each fact that depends on it, and returns the decisions about their deliveries. */
const openIgnored = async (host: DownHost, group: string) => {
  const pulls = [
    await host.open(`draft-${group}`, true),
    await host.open(`label-${group}`, false, { labels: ["wip"] }),
    await host.open(`branch-${group}`, false, { baseBranch: "old" })
  ] as const
  return { pulls, decisions: await deliver(host, pulls) }
}

const deliver = async ({ forge }: DownHost, pulls: ReadonlyArray<DemoPull>) => {
  const decisions: Array<unknown> = []
  for (const pull of pulls) {
    const { reason, status } = Object((await forge.notify(pull, "opened")).body)
    decisions.push(reason ?? status)
  }
  return decisions
}

const ignored = ["draft", "label_ignored", "target_branch_not_watched"]

it.each(hosts)(
  "heads that %s reported as ignored are reviewed when the reason ends",
  async (kind) => {
    const host = await DownHost.start(kind, { review: rules })
    onTestFinished(() => host[Symbol.asyncDispose]())
    const { aicr, forge } = host
    // Only what is newer than the first search is found.
    await waitUntil(() => host.searchedAt() > 0, { timeout: 30_000, describe: () => aicr.log })
    await forge.push("team/one", { branch: "old", from: "main", message: "Old", files: { "old.ts": "1\n" } })

    // The facts change at the host.
    const first = await openIgnored(host, "1")
    expect(first.decisions).toEqual(ignored)
    await aicr.stop()
    const [draft, label, branch] = first.pulls
    forge.edit(draft, { draft: false })
    forge.setLabels(label, [])
    await forge.retarget(branch, "main")
    await aicr.start()
    await host.waitForReviews(first.pulls)
    await aicr.stop()

    // The facts change in the configuration.
    await host.configure({ review: rules, workspace: disabled })
    await aicr.start()
    const off = await host.open("off")
    expect(await deliver(host, [off])).toEqual(["workspace_disabled"])
    await aicr.stop()
    await host.configure({ review: { ...rules, pull_request: { ...rules.pull_request, schedule: closedWindow() } } })
    await aicr.start()
    const second = await openIgnored(host, "2")
    expect(second.decisions).toEqual(ignored)
    const window = await host.open("window")
    expect(await deliver(host, [window])).toEqual(["deferred"])
    const pulls = [...second.pulls, off, window]
    expect(pulls.filter((pull) => host.isReviewed(pull))).toEqual([])
    await aicr.stop()
    await host.configure({ review: { skip_drafts: false } })
    await aicr.start()
    await host.waitForReviews(pulls)
    await aicr.stop()

    const heads = [...first.pulls, ...pulls].map(({ head }) => [head, ["succeeded"]] as const)
    expect(Object.fromEntries(host.runs())).toEqual(Object.fromEntries(heads))
    forge.expectContract()
  },
  300_000
)
