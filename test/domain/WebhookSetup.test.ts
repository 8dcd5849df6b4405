/** The documents name the events of webhooks as the set-up page does, and the checks of webhooks require the same. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { listEventNames, webhookSetups } from "../../src/domain/WebhookSetup.ts"
import { listWebhookProblems } from "../../src/forge/hosts/HostWebhook.ts"
import { parseRoute } from "../../src/ingress/Routes.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"

const kinds: ReadonlyArray<ForgeKind> = ["gitea", "forgejo", "github", "gitlab"]

it.each(kinds)("the path of %s is one of the service, for this kind", (kind) => {
  expect(parseRoute("", webhookSetups[kind].path)).toEqual({ _tag: "Webhook", kind })
})

it.each(kinds)("a webhook of %s with the needed events has no problem, and one without them lacks them", (kind) => {
  const { path, reviews } = webhookSetups[kind]
  const hook = (events: ReadonlyArray<string>) => [
    { url: `https://aicr.test${path}`, isActive: true, events, deliveries: [] }
  ]
  expect(listWebhookProblems(kind, hook(reviews.map(({ id }) => id)), [])).toEqual([])
  expect(listWebhookProblems(kind, hook(["push"]), [])).toEqual([
    { _tag: "WebhookLacksEvents", events: reviews.map(({ id }) => id) }
  ])
})

it("the README names the same events", async () => {
  const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8")
  const row = (name: string) =>
    readme
      .split("\n")
      .find((line) => line.trim().startsWith(`| ${name} |`))
      ?.split("|")
      .slice(2, 5)
      .map((cell) => cell.trim())
  const [gitea, github, gitlab] = [webhookSetups.gitea, webhookSetups.github, webhookSetups.gitlab].map(listEventNames)
  expect(row("Events")).toEqual([gitea, github, gitlab].map((names) => names?.needed.join(", ")))
  expect(row("Also for pushes")).toEqual([gitea, github, gitlab].map((names) => names?.pushes.join(", ")))
  expect(listEventNames(webhookSetups.forgejo)).toEqual(gitea)
})
