/** Filters of a list. They are part of the address, so that a link shows the same list, and are kept while the user moves between pages. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import type { ReactNode } from "react"
import { t } from "../text/T.ts"
import { ViewMenu } from "./ViewMenu.tsx"

export type Search = Readonly<Record<string, string | undefined>>

/** The filters of the address, and how to change some of them. */
export const useFilters = (): readonly [Search, (change: Search) => void] => {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const setFilters = (change: Search): void => {
    // Another filter may have changed since this page was rendered.
    const next = (current: Search): Search =>
      Object.fromEntries(
        Object.entries({ ...current, ...change }).filter(([, value]) => value !== undefined && value !== "")
      )
    void navigate({ to: ".", search: next, replace: true })
  }
  return [search, setFilters]
}

interface SelectProps {
  readonly label: string
  readonly name: string
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly all?: string
}

/** A link or a preset may set several values, or one that is no longer offered. */
const labelOf = (value: string, options: SelectProps["options"]): string =>
  value
    .split(",")
    .map((one) => options.find(([name]) => name === one)?.[1] ?? one)
    .join(", ")

export const SelectFilter = ({ all, label, name, options }: SelectProps) => {
  const [filters, setFilters] = useFilters()
  const current = filters[name] ?? ""
  const isOption = current === "" || options.some(([value]) => value === current)
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={current} onChange={(event) => setFilters({ [name]: event.target.value })}>
        <option value="">{all ?? t("filter.all")}</option>
        {isOption ? null : <option value={current}>{labelOf(current, options)}</option>}
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const typingMillis = 250

export const TextFilter = ({
  label,
  name,
  placeholder
}: {
  readonly label: string
  readonly name: string
  readonly placeholder?: string
}) => {
  const [filters, setFilters] = useFilters()
  const current = filters[name] ?? ""
  const [text, setText] = useState(current)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The address may change by a link or by "back".
  const [seen, setSeen] = useState(current)
  if (seen !== current) {
    setSeen(current)
    setText(current)
  }
  // Otherwise the filter would be set on the page that was opened since. While that page is loaded, this one is still shown.
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <label className="filter">
      <span>{label}</span>
      <input
        type="search"
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        data-filter=""
        onChange={(event) => {
          const { value } = event.target
          setText(value)
          clearTimeout(timer.current)
          const page = location.pathname
          timer.current = setTimeout(() => {
            if (location.pathname === page) setFilters({ [name]: value.trim() })
          }, typingMillis)
        }}
      />
    </label>
  )
}

/** A filter that only links set. It is named, and a click removes it. */
export const LinkFilter = ({
  children,
  label,
  name
}: {
  readonly name: string
  readonly label: string
  readonly children?: ((value: string) => ReactNode) | undefined
}) => {
  const [filters, setFilters] = useFilters()
  const value = filters[name]
  return value === undefined ? null : (
    <button
      type="button"
      className="link-filter"
      title={t("filter.remove")}
      onClick={() => setFilters({ [name]: undefined })}
    >
      {label} {children === undefined ? <span>{value}</span> : children(value)} <span aria-hidden="true">✕</span>
      <span className="hidden">{t("filter.remove")}</span>
    </button>
  )
}

/** Switches between preset filters, such as "failed": one click each. */
export const Presets = ({
  items,
  name
}: {
  readonly name: string
  readonly items: ReadonlyArray<readonly [value: string, label: string]>
}) => {
  const [filters, setFilters] = useFilters()
  return (
    <div className="presets" role="group" aria-label={t("filter.presets")}>
      {items.map(([value, label]) => (
        <button
          type="button"
          key={value}
          aria-pressed={(filters[name] ?? "") === value}
          onClick={() => setFilters({ [name]: value })}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** Parts of the address that select no rows. */
const kept: ReadonlySet<string> = new Set(["tab", "sort", "selected", "batch"])

/** `label`: distinguishes it from another one of the page. */
export const FilterBar = ({ children, label }: { readonly children: ReactNode; readonly label?: string }) => {
  const [filters, setFilters] = useFilters()
  const names = Object.keys(filters).filter((name) => !kept.has(name))
  const isFiltered = names.some((name) => filters[name] !== undefined)
  return (
    <form className="filters" role="search" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
      <ViewMenu />
      {isFiltered ? (
        <button
          type="button"
          className="ghost"
          onClick={() => setFilters(Object.fromEntries(names.map((name) => [name, undefined])))}
        >
          {t("filter.clear")}
        </button>
      ) : null}
    </form>
  )
}
