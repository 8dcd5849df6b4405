/** Handles requests about saved views. Each person reaches only their own. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { newId } from "../../domain/Ids.ts"
import { toStorable } from "../../domain/Text.ts"
import { maxViews, SavedViews } from "../../store/SavedViews.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { conflict, notFound } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { view } from "../api/ViewGroup.ts"
import type { NewView } from "../api/ViewGroup.ts"
import { orUnavailable } from "./Available.ts"

/** Programs are refused before (LeastRoles). */
const owner = Effect.map(CurrentUser, ({ person = "" }) => person)

const list = Effect.gen(function* () {
  const found = yield* (yield* SavedViews).list(yield* owner)
  return { items: found.map(view.view) }
})

const save = Effect.fnUntraced(function* ({ name, page, query }: NewView) {
  const saved = yield* (yield* SavedViews).save({
    id: newId(),
    owner: yield* owner,
    page,
    name: toStorable(name.trim()),
    query: toStorable(query),
    savedAt: yield* Clock.currentTimeMillis
  })
  if (saved === undefined) return yield* conflict("too_many_views", { _tag: "TooManyViews", count: maxViews })
  return view.view(saved)
})

const remove = Effect.fnUntraced(function* (id: string) {
  if (!(yield* (yield* SavedViews).remove(yield* owner, id))) return yield* notFound({ _tag: "ViewUnknown" })
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "views", (handlers) =>
  handlers.handleAll({
    list: () => orUnavailable(list),
    save: ({ payload }) => orUnavailable(save(payload)),
    remove: ({ params }) => orUnavailable(remove(params.id))
  })
)
