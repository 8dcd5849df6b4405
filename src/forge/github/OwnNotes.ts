/** Texts by the profile's own account at GitHub. */
import { Effect } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { OwnText } from "../HostWrite.ts"
import { isBy } from "../hosts/OwnAccount.ts"
import { ownerAndName } from "../http/Profile.ts"
import type { Access } from "./Access.ts"
import { Note, toAuthor } from "./Responses.ts"
import { pages } from "./Facts.ts"

export const toOwnText = (item: typeof Note.Type): OwnText => ({
  hostId: String(item.id),
  url: item.html_url ?? undefined,
  body: item.body ?? ""
})

/** Reads a list and returns the items by the own account. */
export const ownNotes = ({ rest, self }: Pick<Access, "rest" | "self">) =>
  Effect.fnUntraced(function* (repo: Repo, path: string, params: Record<string, string | number>) {
    const account = yield* self
    const notes = yield* rest(repo).pages({ path, params: { ...ownerAndName(repo), ...params } }, Note, pages)
    return notes.filter((note) => isBy(toAuthor(note.user), account)).map(toOwnText)
  })
