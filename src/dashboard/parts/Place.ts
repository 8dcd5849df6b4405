/** Remembers where a list was scrolled to and which row had the focus, by entry of the browser's history, so that going back returns there. */
import { useRouterState } from "@tanstack/react-router"
import { useLayoutEffect, useState } from "react"
import type { RefObject } from "react"

interface Place {
  readonly top: number
  /** Address of the row that had the focus. */
  readonly row: string | undefined
}

const maxPlaces = 100
const places = new Map<string, Place>()

const remember = (entry: string, place: Place): void => {
  places.delete(entry)
  places.set(entry, place)
  for (const oldest of places.keys()) {
    if (places.size <= maxPlaces) return
    places.delete(oldest)
  }
}

const rowLink = "a.row-link"

/** Returns where the list begins. `hasRows`: it shows rows, so that it can be scrolled. */
export const usePlace = (container: RefObject<HTMLDivElement | null>, hasRows: boolean): number => {
  const entry = useRouterState({ select: ({ location }) => location.state.__TSR_key ?? "" })
  const [start] = useState(() => places.get(entry)?.top ?? 0)
  useLayoutEffect(() => {
    const element = container.current
    if (!hasRows || element === null) return
    const place = places.get(entry)
    if (place !== undefined) {
      element.scrollTo({ top: place.top })
      focusWhenShown(element, place.row)
    }
    return () => {
      const focused = document.activeElement?.closest(rowLink)
      const row = focused !== null && element.contains(focused ?? null) ? focused?.getAttribute("href") : undefined
      remember(entry, { top: element.scrollTop, row: row ?? undefined })
    }
  }, [container, entry, hasRows])
  return start
}

/** Rows are in the document some frames after the list is scrolled. */
const maxFrames = 30

const focusWhenShown = (list: HTMLElement, row: string | undefined, frames = 0): void => {
  if (row === undefined || frames > maxFrames || !list.isConnected) return
  const link = [...list.querySelectorAll<HTMLElement>(rowLink)].find((one) => one.getAttribute("href") === row)
  if (link === undefined) requestAnimationFrame(() => focusWhenShown(list, row, frames + 1))
  else link.focus({ preventScroll: true })
}
