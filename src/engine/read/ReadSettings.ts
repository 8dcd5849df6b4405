/**
 * Reads the settings that the repository chooses for its reviews, from the branch from which its rules are read. A file of a hostile author
 * costs bounded work, changes nothing, and is named with its problem. Nothing is read unless the workspace permits a setting.
 */
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import { parseYaml } from "../../config/Yaml.ts"
import { settingsFile } from "../../domain/RepositorySettings.ts"
import { judgeSettings, withoutSettings } from "../../review/RepositorySettings.ts"
import type { Checkout } from "../../vcs/Checkout.ts"

const maxBytes = 16_384

export const readSettings = Effect.fn("readSettings")(function* (
  checkout: Pick<Checkout, "file" | "list">,
  { repositorySettings: allowed, review }: Pick<Workspace, "repositorySettings" | "review">
) {
  if (allowed.length === 0) return undefined
  const text = yield* checkout.file(settingsFile, "rules", maxBytes)
  if (text === undefined) {
    const at = settingsFile.lastIndexOf("/")
    const names = yield* checkout.list(settingsFile.slice(0, at), "rules", 1000)
    return names.includes(settingsFile.slice(at + 1))
      ? withoutSettings(true, { _tag: "SettingsUnreadable", limit: maxBytes })
      : withoutSettings(false)
  }
  const { issues, value } = parseYaml(text)
  const [issue] = issues
  return issue === undefined
    ? judgeSettings(value ?? null, allowed, review)
    : withoutSettings(true, { _tag: "SettingsUnparsed", line: issue.place?.line ?? 1, reason: issue.reason })
})
