/** A modal dialog of the platform: it keeps the focus, and Escape closes it. */
import { useEffect, useId, useRef } from "react"
import type { ReactNode } from "react"
import { t } from "../text/T.ts"

interface DialogProps {
  readonly title: string
  /** Undefined: it cannot be closed without a decision. */
  readonly onClose?: (() => void) | undefined
  readonly children: ReactNode
  readonly className?: string
}

export const Dialog = ({ children, className, onClose, title }: DialogProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    const before = document.activeElement
    if (dialog?.open === false) dialog.showModal()
    // Otherwise the button that closes the dialog has the focus.
    dialog?.querySelector<HTMLElement>("input:not([readonly]), select, textarea, footer button")?.focus()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      className={className}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose === undefined ? null : (
          <button type="button" className="ghost" onClick={onClose} aria-label={t("action.close")}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly children: ReactNode
  readonly label: string
  readonly isDangerous?: boolean
  readonly isPending: boolean
  readonly isDisabled?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** A dialog before something that cannot be undone. */
export const Confirm = ({
  children,
  isDangerous = false,
  isDisabled = false,
  isPending,
  label,
  onClose,
  onConfirm,
  title
}: ConfirmProps) => (
  <Dialog title={title} onClose={onClose}>
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault()
        onConfirm()
      }}
    >
      {children}
      <footer className="actions">
        <button type="button" onClick={onClose}>
          {t("action.back")}
        </button>
        <button type="submit" className={isDangerous ? "danger" : "primary"} disabled={isPending || isDisabled}>
          {label}
        </button>
      </footer>
    </form>
  </Dialog>
)
