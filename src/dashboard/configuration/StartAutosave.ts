/** Begins to store an edit as a draft at the service. */
import { call } from "../client/Call.ts"
import { Autosave } from "./Autosave.ts"
import type { Draft, SaveDraft } from "./Autosave.ts"

const saveDraft: SaveDraft = (content, before, copyOf) =>
  before === undefined
    ? call("POST /config/drafts", {
        payload: { ...content, ...(copyOf === undefined ? undefined : { copy_of: copyOf }) }
      })
    : call("PUT /config/drafts/:id", { params: { id: before.id }, payload: { ...content, version: before.version } })

/** `draft`: the one that is continued. */
export const startAutosave = (draft?: Draft): Autosave => new Autosave({ draft, save: saveDraft })
