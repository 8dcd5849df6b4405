/** The frame of every page: menu, search, state of the connection, user. */
import { Link, Outlet, useRouterState, useNavigate } from "@tanstack/react-router"
import { useCallback, useEffect, useState, useSyncExternalStore } from "react"
import { call, prefix } from "../client/Call.ts"
import { connectionState, followLive, latestEventAt, onConnectionChange, receivedEvents } from "../client/Live.ts"
import { useRole } from "../client/Rights.ts"
import { endSession, sessionState } from "../client/Session.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Dialog, Confirm } from "../parts/Dialog.tsx"
import { formatClock } from "../text/Format.ts"
import { t, tValue } from "../text/T.ts"
import { documentAbout } from "./DocumentAbout.ts"
import { menu, menuItems, useVisible } from "./Navigation.ts"
import { Palette } from "./Palette.tsx"
import { LanguageSelect, ThemeSelect } from "./Preferences.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"

/** Keys that work on every page: `/` for the filter or the palette, Ctrl+K for the palette, `g` and a letter for a page, `?` for help. */

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest("input, textarea, select, [contenteditable='true'], dialog[open]") !== null

/** Time between `g` and the letter. */
const sequenceMillis = 1200

const useKeys = (openPalette: () => void, openHelp: () => void): void => {
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

/** Ends the sessions of all browsers and programs. */
const SessionsDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [keepsCurrent, setKeepsCurrent] = useState(true)
  const revoke = useNoticedAction("POST /sessions/revoke")
  const confirm = () =>
    revoke.run({ payload: { keep_current: keepsCurrent } }, ({ revoked }) => t("session.ended", { count: revoked }), {
      onSuccess: () => {
        onClose()
        if (!keepsCurrent) endSession()
      }
    })
  return (
    <Confirm
      title={t("session.everywhere")}
      label={t("session.end")}
      isDangerous
      isPending={revoke.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("session.everywhere.help")}</p>
      <label className="check">
        <input type="checkbox" checked={keepsCurrent} onChange={(event) => setKeepsCurrent(event.target.checked)} />
        <span>{t("session.keep")}</span>
      </label>
    </Confirm>
  )
}

const Menu = ({ onOpen }: { readonly onOpen: () => void }) => {
  const isVisible = useVisible()
  return (
    <nav aria-label={t("menu.label")}>
      {menu.map(({ items, label }) => (
        <div key={label} className="menu-group">
          <p className="menu-title">{t(label)}</p>
          <ul>
            {items.filter(isVisible).map((item) => (
              <li key={item.to}>
                <Link to={item.to} activeOptions={{ exact: item.to === "/", includeSearch: false }} onClick={onOpen}>
                  <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
                    <path d={item.icon} />
                  </svg>
                  <span>{t(item.label)}</span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

const Connection = () => {
  const state = useSyncExternalStore(onConnectionChange, connectionState)
  const events = useSyncExternalStore(onConnectionChange, receivedEvents)
  return (
    <span className={`connection connection-${state}`} title={t("live.events", { count: events })} role="status">
      <span aria-hidden="true" className="dot" />
      {state === "lost" ? t("live.lost", { time: formatClock(latestEventAt()) }) : t(`live.${state}`)}
    </span>
  )
}

const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title={t("help.title")} onClose={onClose}>
    <dl className="keys">
      <dt>
        <kbd>j</kbd> <kbd>k</kbd>
      </dt>
      <dd>{t("help.rows")}</dd>
      <dt>
        <kbd>Enter</kbd>
      </dt>
      <dd>{t("help.open")}</dd>
      <dt>
        <kbd>/</kbd>
      </dt>
      <dd>{t("help.filter")}</dd>
      <dt>
        <kbd>Ctrl</kbd> <kbd>K</kbd>
      </dt>
      <dd>{t("help.palette")}</dd>
      {menuItems.map(({ label, letter }) => (
        <div key={letter} className="contents">
          <dt>
            <kbd>g</kbd> <kbd>{letter}</kbd>
          </dt>
          <dd>{t(label)}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)

const logOut = async (): Promise<void> => {
  await call("POST /logout", {}).catch(() => undefined)
  endSession()
}

type Open = "palette" | "help" | "sessions" | undefined

const UserMenu = ({ open }: { readonly open: (dialog: Open) => void }) => {
  const state = sessionState()
  const role = useRole()
  const username = state._tag === "SignedIn" || state._tag === "Expired" ? state.session.username : ""
  return (
    <details className="user-menu">
      <summary>
        <span className="avatar" aria-hidden="true">
          {username.slice(0, 1).toUpperCase()}
        </span>
        <span className="user-name">{username}</span>
      </summary>
      <div className="user-panel">
        {role === undefined ? null : (
          <p className="quiet">
            {t("access.title")}: {tValue("access", role)}
          </p>
        )}
        <LanguageSelect />
        <ThemeSelect />
        <button type="button" className="ghost" onClick={() => open("help")}>
          {t("help.title")}
        </button>
        <a className="button ghost" href={`${prefix}/api/docs`}>
          {t("menu.api")}
        </a>
        <ActionButton action="POST /sessions/revoke" className="ghost" onClick={() => open("sessions")}>
          {t("session.everywhere")}
        </ActionButton>
        <button type="button" className="ghost" onClick={() => void logOut()}>
          {t("session.logout")}
        </button>
      </div>
    </details>
  )
}

/** Names the page in the title of the tab. */
const useTitle = (): void => {
  useEffect(() => {
    const heading = document.querySelector("main h1")
    document.title = heading === null ? "aicr" : `${heading.textContent} · aicr`
  })
}

export const Shell = () => {
  const [open, setOpen] = useState<Open>()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const pathname = useRouterState({ select: ({ location }) => location.pathname })
  const close = useCallback(() => setOpen(undefined), [])
  const openPalette = useCallback(() => setOpen("palette"), [])
  const openHelp = useCallback(() => setOpen("help"), [])
  useKeys(openPalette, openHelp)
  useTitle()
  useEffect(() => {
    const controller = new AbortController()
    void followLive(controller.signal)
    return () => controller.abort()
  }, [])
  return (
    <div className={isMenuOpen ? "shell menu-open" : "shell"}>
      <a className="skip" href="#content">
        {t("menu.skip")}
      </a>
      <aside className="sidebar">
        <Link to="/" className="brand" onClick={() => setMenuOpen(false)}>
          <span className="mark" aria-hidden="true" />
          aicr
        </Link>
        <Menu onOpen={() => setMenuOpen(false)} />
      </aside>
      <header className="topbar">
        <button
          type="button"
          className="ghost menu-button"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          ☰ <span className="hidden">{t("menu.label")}</span>
        </button>
        <button type="button" className="search-button" onClick={openPalette}>
          <span>{t("palette.placeholder")}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Connection />
        <a
          className="button ghost"
          href={`${prefix}/dashboard${documentAbout(pathname)}`}
          target="_blank"
          rel="noopener"
        >
          <span aria-hidden="true">?</span> <span className="hidden">{t("menu.documents")}</span>
        </a>
        <UserMenu key={pathname} open={setOpen} />
      </header>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      {open === "palette" ? <Palette onClose={close} /> : null}
      {open === "help" ? <Help onClose={close} /> : null}
      {open === "sessions" ? <SessionsDialog onClose={close} /> : null}
    </div>
  )
}
