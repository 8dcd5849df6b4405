/** Language and theme of this browser. */
import { useState } from "react"
import { changeLanguage, currentLanguage, languages, t } from "../text/T.ts"
import type { Language } from "../text/T.ts"
import { changeTheme, currentTheme, themes } from "./Theme.ts"

const names: Record<Language, string> = { en: "English", "zh-CN": "中文" }

export const LanguageSelect = () => (
  <label className="preference">
    <span>{t("preference.language")}</span>
    <select
      value={currentLanguage()}
      onChange={(event) => {
        const found = languages.find((language) => language === event.target.value)
        if (found !== undefined) void changeLanguage(found)
      }}
    >
      {languages.map((language) => (
        <option key={language} value={language} lang={language}>
          {names[language]}
        </option>
      ))}
    </select>
  </label>
)

export const ThemeSelect = () => {
  const [theme, setTheme] = useState(currentTheme())
  return (
    <label className="preference">
      <span>{t("preference.theme")}</span>
      <select
        value={theme}
        onChange={(event) => {
          const found = themes.find((name) => name === event.target.value)
          if (found === undefined) return
          changeTheme(found)
          setTheme(found)
        }}
      >
        {themes.map((name) => (
          <option key={name} value={name}>
            {t(`theme.${name}`)}
          </option>
        ))}
      </select>
    </label>
  )
}
