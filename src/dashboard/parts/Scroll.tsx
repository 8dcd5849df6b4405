/** Content that is wider than its place. It scrolls, also by keyboard, so it can have the focus and has a name. */
import type { ReactNode } from "react"

export const Scroll = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <div className="scroll" tabIndex={0} role="region" aria-label={label}>
    {children}
  </div>
)
