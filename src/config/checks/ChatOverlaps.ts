/** Refuses enabled command bindings that overlap. */
import type { Report } from "../document/Normalise.ts"
import type { TreePosition, Tree } from "./Tree.ts"
import { recordsAt } from "./Tree.ts"

/** Keys of the parts of a binding by which another one may match the same message. */
const listKeys = (value: Tree, name: string, fields: ReadonlyArray<string>): ReadonlyArray<string> =>
  recordsAt(value, name).map((item) => JSON.stringify(fields.map((field) => item.value[field])))

const actorFields = ["type", "kind", "id", "chat_id", "name", "value"]
const anyone = JSON.stringify(actorFields.map((field) => (field === "kind" ? "any" : undefined)))

const haveCommon = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): boolean =>
  one.some((item) => other.includes(item))

/** Two enabled bindings that grant a person the same command in the same conversation would leave open whose repositories apply. */
export const checkOverlaps = (
  bindings: ReadonlyArray<TreePosition<Tree> & { readonly key: string }>,
  error: Report
): void => {
  const facts = bindings
    .filter(({ value }) => value["enabled"] === true)
    .map(({ key, path, value }) => ({
      key,
      path,
      connection: value["connection"],
      conversations: listKeys(value, "conversations", ["kind", "id"]),
      actors: listKeys(value, "actors", actorFields),
      commands: Array.isArray(value["commands"]) ? value["commands"] : []
    }))
  for (const [at, one] of facts.entries())
    for (const other of facts.slice(0, at)) {
      const isShared =
        one.connection === other.connection &&
        haveCommon(one.conversations, other.conversations) &&
        haveCommon(one.commands, other.commands) &&
        (haveCommon(one.actors, other.actors) || one.actors.includes(anyone) || other.actors.includes(anyone))
      if (isShared)
        error({
          path: one.path,
          reason: { _tag: "BindingsOverlap", binding: JSON.stringify(other.key) },
          at: "key"
        })
    }
}
