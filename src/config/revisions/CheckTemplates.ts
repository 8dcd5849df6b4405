/**
 * Renders the templates that an edit brings into the database with an example, so that one that cannot be rendered, or only with more than its
 * budget, is refused before it is published.
 */
import { Context, Effect } from "effect"
import { formatPath, isRecord, valueAt } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { formatRef } from "./Entities.ts"
import type { Decision, PublishProblem } from "./Publish.ts"
import { verbatimReason } from "../../domain/Reason.ts"

/** Returns why a template is refused. Provided by the program, because rendering does not belong to the configuration; default: none is. */
export const CheckTemplate = Context.Reference<(source: string) => string | undefined>("aicr/config/CheckTemplate", {
  defaultValue: () => () => undefined
})

interface HeldTemplate {
  readonly entity: string
  readonly field: Path
  readonly source: string
}

const inLayer = (entity: string, value: unknown, field: Path): ReadonlyArray<HeldTemplate> => {
  const templates = valueAt(value, field)
  return Object.entries(isRecord(templates) ? templates : {}).flatMap(([name, source]) =>
    typeof source === "string" ? [{ entity, field: [...field, name], source }] : []
  )
}

/** Returns every template of the database: its own, and those of layers of workspaces. */
const listTemplates = ({ entities, globals }: DatabaseDocument): ReadonlyArray<HeldTemplate> => [
  ...inLayer("", entities.templates, []).map(({ field, source }) => ({
    entity: formatRef({ kind: "templates", name: String(field[0]) }),
    field: [],
    source
  })),
  ...inLayer("globals", globals, ["workspaces", "defaults", "outputs", "templates"]),
  ...Object.entries(entities.workspaces).flatMap(([name, value]) =>
    inLayer(formatRef({ kind: "workspaces", name }), value, ["outputs", "templates"])
  )
]

/** Refuses a decision to publish if a template that is new in it cannot be rendered. Others can run between two templates. */
export const checkTemplates = Effect.fnUntraced(function* (
  decision: Decision,
  head: DatabaseDocument,
  check: (source: string) => string | undefined
): Effect.fn.Return<Decision> {
  if (decision._tag !== "Publish") return decision
  const known = new Set(listTemplates(head).map(({ source }) => source))
  const problems: Array<PublishProblem> = []
  for (const { entity, field, source } of listTemplates(decision.publishable.document)) {
    if (known.has(source)) continue
    known.add(source)
    const why = check(source)
    if (why !== undefined)
      problems.push({
        code: "template_refused",
        entity,
        path: formatPath(field),
        reason: { _tag: "TemplateRefused", why: verbatimReason(why) }
      })
    yield* Effect.yieldNow
  }
  return problems.length === 0 ? decision : { _tag: "Refused", problems }
})
