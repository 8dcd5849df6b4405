/** The documents name the events of webhooks as the set-up page does, and the checks of webhooks require the same. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import {
  listFeatures,
  listEvents,
  listRights,
  listUsedFeatures,
  webhookFeatures,
  webhookSetups
} from "../../src/domain/WebhookSetup.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { parseRoute } from "../../src/ingress/Routes.ts"
import { inEnglish } from "../../src/text/en.ts"

const kinds = ForgeKind.literals
const read = (file: string) => readFile(join(import.meta.dirname, "../..", file), "utf8")

it.each(kinds)("the path of %s is one of the service, for this kind", (kind) => {
  expect(parseRoute("", webhookSetups[kind].path)).toEqual({ _tag: "Webhook", kind })
})

it("a workspace uses pushes of the branches that it lists, issues where it triages them, conversations unless they are off, and merge groups where it sets statuses", () => {
  const workspace = (
    branches: ReadonlyArray<string> | undefined,
    enabled: boolean,
    talks = false,
    commands = true,
    checks = false
  ) => [
    {
      review: {
        auto_commit: { include_branches: branches },
        comment_commands: commands,
        conversation: { enabled: talks },
        status_check: checks
      },
      triage: { enabled }
    }
  ]
  expect(listUsedFeatures("github", workspace([], false, true))).toEqual(["reviews", "commands", "conversations"])
  expect(listUsedFeatures("github", workspace([], false, true, false))).toEqual(["reviews", "commands"])
  expect(listUsedFeatures("gitlab", workspace([], false, true))).toEqual(["reviews", "commands"])
  expect(listUsedFeatures("gitea", workspace(undefined, false))).toEqual(["reviews", "commands"])
  expect(listUsedFeatures("gitea", workspace([], true))).toEqual(["reviews", "commands", "issues"])
  expect(listUsedFeatures("github", workspace(["main"], true))).toEqual(["reviews", "commands", "pushes"])
  expect(listUsedFeatures("github", workspace([], false, false, true, true))).toEqual(["reviews", "commands", "merges"])
  expect(listUsedFeatures("gitlab", workspace([], false, false, true, true))).toEqual(["reviews", "commands"])
})

it("the README names the same events", async () => {
  const readme = await read("README.md")
  const row = (name: string) =>
    readme
      .split("\n")
      .find((line) => line.trim().startsWith(`| ${name} |`))
      ?.split("|")
      .slice(2, 5)
      .map((cell) => cell.trim())
  const names = (...features: Parameters<typeof listEvents>[1]) =>
    (["gitea", "github", "gitlab"] as const).map((kind) =>
      listEvents(kind, features)
        .map(({ name }) => name)
        .join(", ")
    )
  expect(row("Events")).toEqual(names("reviews", "commands"))
  expect(row("Also for replies")).toEqual(names("conversations"))
  expect(row("Also for pushes")).toEqual(names("pushes"))
  expect(row("Also for merge queues")).toEqual(names("merges"))
})

it("docs/webhooks.md has the table of events, paths, content types and rights", async () => {
  const cell = (values: ReadonlyArray<string>) => (values.length === 0 ? "–" : values.join(", "))
  const rows = kinds.flatMap((kind) => {
    const { contentType, host, hookRights, ownerPlace, path, place } = webhookSetups[kind]
    const features = listFeatures(kind).map((feature) => {
      const events = webhookFeatures[feature].events[kind].map(({ id, name }) => `${name} (\`${id}\`)`)
      return `| ${feature} | ${cell(events)} | ${cell(webhookFeatures[feature].rights[kind])} |`
    })
    return [
      `### ${host}`,
      "",
      `Path \`${path}\`, content type ${contentType === "–" ? "JSON, without a choice" : `\`${contentType}\``}.`,
      "",
      `- One repository: ${place}`,
      `- All repositories: ${ownerPlace}`,
      `- Rights to list, create and repair webhooks: ${inEnglish(hookRights)}`,
      `- Rights for everything else: ${cell(listRights(kind))}`,
      "",
      "| Feature | Events | Rights |",
      "|---|---|---|",
      ...features,
      ""
    ]
  })
  const [, generated] = (await read("docs/webhooks.md")).split(
    /<!-- (?:begin|end) of the table of src\/domain\/WebhookSetup.ts -->\n/
  )
  expect(generated).toEqual(`\n${rows.join("\n")}\n`)
})
