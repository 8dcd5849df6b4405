/** Keys that work on every page: `/` for the filter or the palette, Ctrl+K for the palette, `g` and a letter for a page, `?` for help. */
import { useNavigate } from "@tanstack/react-router"
import { useEffect } from "react"
import { menuItems } from "./Navigation.ts"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest("input, textarea, select, [contenteditable='true'], dialog[open]") !== null

/** Time between `g` and the letter. */
const sequenceMillis = 1200

export const useKeys = (openPalette: () => void, openHelp: () => void): void => {
  const navigate = useNavigate()
  useEffect(() => {
    let startedAt = 0
    const listener = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault()
        openPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.timeStamp - startedAt < sequenceMillis) {
        startedAt = 0
        const item = menuItems.find(({ letter }) => letter === event.key)
        if (item !== undefined) {
          event.preventDefault()
          void navigate({ to: item.to })
          return
        }
      }
      if (event.key === "g") startedAt = event.timeStamp
      else if (event.key === "?") openHelp()
      else if (event.key === "/") {
        event.preventDefault()
        const filter = document.querySelector<HTMLInputElement>("main [data-filter]")
        if (filter === null) openPalette()
        else filter.select()
      }
    }
    document.addEventListener("keydown", listener)
    return () => document.removeEventListener("keydown", listener)
  }, [navigate, openHelp, openPalette])
}
