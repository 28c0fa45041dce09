/**
 * Shows the vendor's icon, or the first letter of the
 * name.
 */
export function Mark({
  icon,
  name,
}: {
  icon: string | null | undefined;
  name: string;
}) {
  return (
    <span className="mark">
      {icon ? (
        <img
          src={icon}
          alt=""
          width="24"
          height="24"
          loading="lazy"
        />
      ) : (
        name.slice(0, 1).toUpperCase()
      )}
    </span>
  );
}
