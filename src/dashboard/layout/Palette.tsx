/** The command palette: pages, the id of a record, a pull request as `owner/name#5`, recent changes. */
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import type { KeyboardEvent } from "react"
import { useApi, usePages } from "../client/Queries.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { t } from "../text/T.ts"
import { menuItems, useVisible } from "./Navigation.ts"

interface Entry {
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly open: () => void
}

const recordId = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i
const changeReference = /^([^\s#!]+\/[^\s#!]+)[#!](\d{1,10})$/
const maxEntries = 12

/** Shorter words are searched among the newest changes only. */
const minSearched = 2
const typingMillis = 150

/** Returns a text once it has not changed for a moment. */
const useDelayed = (text: string): string => {
  const [delayed, setDelayed] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), typingMillis)
    return () => clearTimeout(timer)
  }, [text])
  return delayed
}

const useEntries = (text: string): ReadonlyArray<Entry> => {
  const navigate = useNavigate()
  const wanted = text.trim().toLowerCase()
  const searched = useDelayed(wanted)
  const changes = usePages("GET /changes", searched.length < minSearched ? {} : { query: { q: searched } })
  const isVisible = useVisible()
  const pages = menuItems.filter(isVisible).map(({ label, letter, to }): Entry => ({
    key: to,
    label: t(label),
    hint: `g ${letter}`,
    open: () => void navigate({ to })
  }))
  const recent = changes.items.flatMap(({ number, repo, target_key: key, title }): ReadonlyArray<Entry> =>
    number === undefined
      ? []
      : [
          {
            key,
            label: `${repo}#${number} ${title ?? ""}`,
            hint: t("palette.change"),
            open: () => void navigate({ to: "/change", search: { repo, number: String(number) } })
          }
        ]
  )
  const views = (useApi("GET /views", {}).data?.items ?? []).map(({ id, name, page, query }): Entry => {
    const label = menuItems.find(({ to }) => to === page)?.label
    return {
      key: id,
      label: name,
      hint: label === undefined ? "" : t(label),
      open: () => void navigate({ to: page, search: Object.fromEntries(new URLSearchParams(query)) })
    }
  })
  const hasWords = ({ label }: Entry) => wanted.split(/\s+/).every((word) => label.toLowerCase().includes(word))
  // The service finds changes by more than their label. Until it has, those of the words before are shown.
  const isFound = searched === wanted && searched.length >= minSearched && !changes.isPlaceholderData
  const found = isFound ? recent : recent.filter(hasWords)
  const search: ReadonlyArray<Entry> =
    wanted.length < minSearched
      ? []
      : [
          {
            key: "search",
            label: t("palette.search", { text: wanted }),
            hint: "",
            open: () => void navigate({ to: "/changes", search: { q: wanted } })
          }
        ]
  const matching = [...[...pages, ...views].filter(hasWords), ...found]
  const [, repo, number] = changeReference.exec(text.trim()) ?? []
  const id = text.trim()
  const exact: ReadonlyArray<Entry> = recordId.test(id)
    ? [
        {
          key: "run",
          label: t("palette.run", { id }),
          hint: "",
          open: () => void navigate({ to: "/runs/$id", params: { id } })
        },
        {
          key: "event",
          label: t("palette.delivery", { id }),
          hint: "",
          open: () => void navigate({ to: "/deliveries/$id", params: { id } })
        }
      ]
    : repo !== undefined && number !== undefined
      ? [
          {
            key: "ref",
            label: t("palette.open", { name: `${repo}#${number}` }),
            hint: "",
            open: () => void navigate({ to: "/change", search: { repo, number } })
          }
        ]
      : []
  return [...exact, ...matching.slice(0, maxEntries), ...search]
}

export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const [text, setText] = useState("")
  const [selected, setSelected] = useState(0)
  const entries = useEntries(text)
  const current = Math.min(selected, Math.max(entries.length - 1, 0))
  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.open()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setSelected(Math.min(current + 1, entries.length - 1))
    else if (event.key === "ArrowUp") setSelected(Math.max(current - 1, 0))
    else if (event.key === "Enter") open(entries[current])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={t("palette.title")} onClose={onClose} className="palette">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={entries.length === 0 ? undefined : `palette-${current}`}
        aria-label={t("palette.label")}
        placeholder={t("palette.placeholder")}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value)
          setSelected(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-entries" role="listbox" aria-label={t("palette.title")}>
        {entries.map((entry, index) => (
          // The keys of the field above select and open entries.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={entry.key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={() => open(entry)}
          >
            <span>{entry.label}</span>
            <kbd>{entry.hint}</kbd>
          </li>
        ))}
      </ul>
      {entries.length === 0 ? <p className="quiet">{t("palette.none")}</p> : null}
    </Dialog>
  )
}
