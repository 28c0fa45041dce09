import {
  hueOf,
  lettersOf,
} from '@connector-frame/element/catalog';

/**
 * Shows the vendor's icon, or two letters of the name on
 * a tinted tile.
 */
export function Mark({
  icon,
  name,
}: {
  icon: string | null | undefined;
  name: string;
}) {
  if (!icon)
    return (
      <span
        className="mark letters"
        data-hue={hueOf(name)}
      >
        {lettersOf(name)}
      </span>
    );
  return (
    <span className="mark">
      <img
        src={icon}
        alt=""
        width="24"
        height="24"
        loading="lazy"
      />
    </span>
  );
}
