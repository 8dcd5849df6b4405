/** Connects the storing of drafts to a page: its state, the address that continues the draft, and the end of the page. */
import { useEffect, useSyncExternalStore } from "react"
import { useFilters } from "../parts/Filters.tsx"
import type { Autosave, Stored } from "./Autosave.ts"

const isUnsaved = ({ state }: Stored): boolean => state._tag !== "Saved" && state._tag !== "Unchanged"

export const useAutosave = (autosave: Autosave): Stored => {
  const stored = useSyncExternalStore(
    (listener) => autosave.subscribe(listener),
    () => autosave.stored
  )
  const [filters, setFilters] = useFilters()
  const id = stored.draft?.id
  const isNamed = id === undefined || filters["draft"] === id
  useEffect(() => {
    // A reload of the page continues the draft.
    if (!isNamed) setFilters({ draft: id })
  })
  useEffect(() => {
    const onHide = (): void => {
      if (document.visibilityState === "hidden" && autosave.stored.state._tag === "Saving") void autosave.flush()
    }
    const onLeave = (event: BeforeUnloadEvent): void => {
      if (isUnsaved(autosave.stored)) event.preventDefault()
    }
    document.addEventListener("visibilitychange", onHide)
    globalThis.addEventListener("beforeunload", onLeave)
    return () => {
      document.removeEventListener("visibilitychange", onHide)
      globalThis.removeEventListener("beforeunload", onLeave)
      // A conflict waits for a decision.
      if (autosave.stored.state._tag === "Saving") void autosave.flush()
    }
  }, [autosave])
  return stored
}
