/** The pages of the menu, in the order of their use, with their letters: `g` and the letter open a page. */
import type { Endpoint } from "../client/Endpoints.ts"
import { useRefusals } from "../client/Rights.ts"
import type { documents } from "./DocumentAbout.ts"
import type { Key } from "../text/T.ts"

export interface MenuItem {
  readonly to: keyof typeof documents
  readonly label: Key
  readonly letter: string
  /** Outline in a box of 16 by 16. */
  readonly icon: string
  /** Request without which the page shows nothing: the item is hidden from roles that may not send it. */
  readonly needs?: Endpoint
}

export const menu: ReadonlyArray<{ readonly label: Key; readonly items: ReadonlyArray<MenuItem> }> = [
  {
    label: "menu.work",
    items: [
      {
        to: "/",
        label: "page.overview",
        letter: "o",
        icon: "M2.5 8.5 8 3l5.5 5.5M4 7.5V13h8V7.5"
      },
      {
        to: "/changes",
        label: "page.changes",
        letter: "c",
        icon: "M4.5 4.5v7M4.5 4.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM4.5 14.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 14.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11.5 11.5V7a3 3 0 0 0-3-3H7"
      },
      {
        to: "/deliveries",
        label: "page.deliveries",
        letter: "d",
        icon: "M2 9h3l1 2h4l1-2h3M2 9v4.5h12V9M2 9l2-6.5h8L14 9"
      },
      { to: "/runs", label: "page.runs", letter: "r", icon: "M5 2.8v10.4L13 8Z" },
      {
        to: "/queue",
        label: "page.queue",
        letter: "q",
        icon: "M2 4h12M2 8h12M2 12h7"
      }
    ]
  },
  {
    label: "menu.insight",
    items: [
      { to: "/projects", label: "page.projects", letter: "p", icon: "M2 4.5h4l1.5 2H14v7H2Z" },
      {
        to: "/statistics",
        label: "page.statistics",
        letter: "s",
        icon: "M2.5 13.5h11M4 11V8M8 11V3M12 11V6"
      },
      {
        to: "/rules",
        label: "page.rules",
        letter: "l",
        icon: "M5.5 3.5H14M5.5 8H14M5.5 12.5H14M2 3.5h.1M2 8h.1M2 12.5h.1"
      },
      {
        to: "/nodes",
        label: "page.nodes",
        letter: "n",
        icon: "M2.5 2.5h11v4h-11ZM2.5 9.5h11v4h-11ZM5 4.5h.1M5 11.5h.1"
      },
      { to: "/providers", label: "page.providers", letter: "v", icon: "M8 2v5M4.5 4a5.5 5.5 0 1 0 7 0" }
    ]
  },
  {
    label: "menu.manage",
    items: [
      {
        to: "/setup",
        label: "page.setup",
        letter: "u",
        icon: "M6.5 9.5 13 3M9.5 3H13v3.5M11 9v4.5H2.5V5H7"
      },
      {
        to: "/configuration",
        label: "page.configuration",
        letter: "f",
        icon: "M2 4.5h6M11 4.5h3M9.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM2 11.5h3M8 11.5h6M6.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z"
      },
      {
        to: "/chat",
        label: "page.chat",
        letter: "h",
        icon: "M2 3h12v8H7.5L4.5 13.5V11H2ZM5 6h6M5 8.5h4"
      },
      {
        to: "/tokens",
        needs: "GET /tokens",
        label: "page.tokens",
        letter: "t",
        icon: "M5.5 6.5a4 4 0 1 1 2.6 3.7L6.5 12H5v1.5H2.5V11l4-4"
      },
      {
        to: "/audit",
        needs: "GET /audit",
        label: "page.audit",
        letter: "a",
        icon: "M3.5 1.5h9v13h-9ZM6 5h4M6 8h4M6 11h2"
      }
    ]
  }
]

export const menuItems: ReadonlyArray<MenuItem> = menu.flatMap(({ items }) => items)

/** Returns whether the user may open the page of an item. */
export const useVisible = () => {
  const refusals = useRefusals()
  return ({ needs }: MenuItem): boolean => needs === undefined || refusals(needs) === undefined
}
