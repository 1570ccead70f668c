/** Stands in for react-style-singleton below Radix: a constructed sheet instead of a <style> element, so the strict policy holds. */
import { useEffect } from 'react';

function singleton() {
  let users = 0;
  let sheet: CSSStyleSheet | null = null;
  return {
    add(css: string) {
      if (users++ > 0) return;
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    },
    remove() {
      if (--users > 0 || !sheet) return;
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
      sheet = null;
    },
  };
}

export const stylesheetSingleton = singleton;

export function styleHookSingleton() {
  const shared = singleton();
  return function useStyles(styles: string, dynamic?: boolean) {
    useEffect(() => {
      shared.add(styles);
      return () => shared.remove();
    }, [styles, dynamic]);
  };
}

export function styleSingleton() {
  const useStyles = styleHookSingleton();
  return function Sheet({ styles, dynamic }: { styles: string; dynamic?: boolean }) {
    useStyles(styles, dynamic);
    return null;
  };
}
