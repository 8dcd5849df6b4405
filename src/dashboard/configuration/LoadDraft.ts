/** Loads a draft for editing: its record, the document that it makes, and that of its base revision. */
import { useQuery } from "@tanstack/react-query"
import { call } from "../client/Call.ts"
import type { Output } from "../client/Endpoints.ts"
import type { Draft } from "./Autosave.ts"
import { readOperations, readDocument } from "./CheckEdit.ts"
import { formKinds } from "./EntityKinds.ts"
import type { FormKind } from "./EntityKinds.ts"
import type { MaskedDocument } from "./ResolveConflicts.ts"

export interface LoadedDraft {
  readonly draft: Draft
  readonly document: Output<"GET /config/drafts/:id/document">
  readonly base: MaskedDocument
}

/** Another version may be stored between the requests: then they are repeated. */
const loadDraft = async (id: string): Promise<LoadedDraft> => {
  for (;;) {
    const draft = await call("GET /config/drafts/:id", { params: { id } })
    const document = await call("GET /config/drafts/:id/document", { params: { id } })
    if (document.version === draft.version) return { draft, document, base: await readDocument(draft.base_revision) }
  }
}

/** `attempt`: distinguishes loading again from an earlier result. */
export const useDraft = (id: string | undefined, attempt: number) =>
  useQuery({
    queryKey: ["draft", id, attempt],
    queryFn: () => loadDraft(id ?? ""),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0
  })

/** Returns the only entity of a draft that was made in a form. Undefined: it is edited as YAML. */
export const formEntity = (draft: Draft): { readonly kind: FormKind; readonly name: string } | undefined => {
  if (draft.format === "yaml") return undefined
  const operations = readOperations(draft)
  const [entity] = operations.flatMap((operation) => (operation.entity === undefined ? [] : [operation.entity]))
  const kind = formKinds.find((name) => name === entity?.kind)
  const isOne = operations.every(
    ({ entity: other, op }) =>
      other?.kind === kind && other?.name === entity?.name && ["create", "update", "set", "unset"].includes(op)
  )
  return kind !== undefined && entity !== undefined && isOne ? { kind, name: entity.name } : undefined
}
